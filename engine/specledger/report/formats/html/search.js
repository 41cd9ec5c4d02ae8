const $ = (id) => document.getElementById(id);
const root = document.documentElement;
const encoder = new TextEncoder();

// Every text from the evidence passes here: what could steer a reader is shown as an escape, on whatever lines it has.
const UNSEEN = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;
const plain = (text) => String(text).replace(UNSEEN, (one) => "\\u{" + one.codePointAt(0).toString(16) + "}");
const said = (value) => plain(typeof value === "string" ? value : JSON.stringify(value));

const build = (space) => (name, attributes, ...children) => {
  const made = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes || {})) if (value !== null) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
};
const html = build("http://www.w3.org/1999/xhtml");
const svg = build("http://www.w3.org/2000/svg");
const isolated = (value) => html("bdi", null, said(value));

// Search and links: the address holds `#target?q=words&show=which`

const items = Array.from(document.querySelectorAll("tbody.item"));
const texts = new Map();
const textOf = (item) => {
  if (!texts.has(item)) texts.set(item, item.textContent.toLowerCase());
  return texts.get(item);
};
let target = "";
const openers = []; // what shows a target that is no element: each says whether it did

const address = () => {
  const query = new URLSearchParams();
  if ($("find").value) query.set("q", $("find").value);
  if ($("show").value) query.set("show", $("show").value);
  const rest = query.toString();
  history.replaceState(null, "", `#${target}${rest ? `?${rest}` : ""}`);
};

const filter = () => {
  const wanted = $("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  const which = $("show").value;
  const filtered = wanted.length > 0 || which !== "";
  let shown = 0;
  for (const item of items) {
    const tone = item.dataset.tone;
    const right = !which || (which === "attention" ? tone === "bad" || tone === "open" : tone === which);
    item.hidden = !(right && wanted.every((word) => textOf(item).includes(word)));
    if (!item.hidden) shown += 1;
  }
  for (const section of document.querySelectorAll("main > section")) {
    const inside = section.querySelectorAll("tbody.item");
    if (inside.length) section.classList.toggle("empty", filtered && !section.querySelector("tbody.item:not([hidden])"));
  }
  $("shown").textContent = `${shown} of ${items.length} rows`;
};

const fold = (item, closed) => {
  item.classList.toggle("closed", closed);
  const button = item.querySelector(".fold");
  if (button) {
    button.setAttribute("aria-expanded", String(!closed));
    button.textContent = closed ? "\u25b8" : "\u25be";
  }
};

const go = () => {
  for (const item of items) item.classList.toggle("found", item.id === target);
  if (openers.some((open) => open(target))) return;
  if (target && $(target)) {
    const item = $(target).closest("tbody.item");
    if (item) {
      item.hidden = false;
      fold(item, false);
    }
    $(target).scrollIntoView();
    $(target).focus({ preventScroll: true });
  }
};

const follow = () => {
  const [place, query] = location.hash.slice(1).split(/\?(.*)/s);
  try {
    target = decodeURIComponent(place);
  } catch {
    target = "";
  }
  if (query !== undefined) {
    const wanted = new URLSearchParams(query);
    $("find").value = wanted.get("q") || "";
    $("show").value = wanted.get("show") || "";
  }
  filter();
  address();
  go();
};

const prepareSearch = () => {
  for (const item of items) {
    const details = item.querySelector("tr.details");
    if (!details) continue;
    const name = item.querySelector("th .name").textContent;
    const button = html("button", { type: "button", class: "fold", "aria-label": `details of ${plain(name)}` });
    button.addEventListener("click", () => fold(item, !item.classList.contains("closed")));
    item.querySelector("th").prepend(button);
    fold(item, true);
  }
  $("search").hidden = false;
  $("unfold").hidden = !document.querySelector("tr.details");
  $("search").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["find", "show"]) $(id).addEventListener("input", () => { filter(); address(); });
  $("unfold").addEventListener("click", () => {
    const open = $("unfold").getAttribute("aria-pressed") !== "true";
    $("unfold").setAttribute("aria-pressed", String(open));
    for (const item of items) fold(item, !open);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      $("find").focus();
    } else if (event.key === "Escape" && document.activeElement === $("find")) {
      $("find").value = "";
      filter();
      address();
    }
  });
};

const beginSearch = () => {
  prepareSearch();
  window.addEventListener("hashchange", follow);
  follow();
};
