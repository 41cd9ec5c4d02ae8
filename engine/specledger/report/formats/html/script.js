// The receipts in this page

const data = JSON.parse($("data").textContent);

const unfold = (parts) => {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + (typeof part === "string" ? part.length : part[1]), 0));
  let at = 0;
  for (const part of parts) {
    if (typeof part === "string") for (let k = 0; k < part.length; k += 1) bytes[at++] = part.charCodeAt(k);
    else for (let k = 0; k < part[1]; k += 1) bytes[at++] = bytes[part[0] + k];
  }
  return bytes;
};

const readLines = () => {
  const bytes = unfold(data.text);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let at = 0;
  for (const chain of data.chains) {
    chain.lines = new Map();
    for (const [first, count] of chain.spans) {
      for (let seq = first; seq < first + count; seq += 1) {
        const end = bytes.indexOf(10, at);
        if (end < 0) throw new Error("a receipt is missing");
        const line = bytes.subarray(at, end);
        at = end + 1;
        chain.lines.set(seq, { line, receipt: JSON.parse(decoder.decode(line)) });
      }
    }
  }
  if (at !== bytes.length) throw new Error("there is more than the receipts");
};

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const unhex = (text) => Uint8Array.from(text.match(/../g) || [], (pair) => parseInt(pair, 16));
const unbase = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
const glue = (...parts) => {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) { whole.set(part, at); at += part.length; }
  return whole;
};
const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", glue(...parts)));
const node = (left, right) => sha256(Uint8Array.of(1), left, right);

/** The Merkle root of a chain, and what does not fit in it. */
const recompute = async (chain) => {
  const wrong = [];
  const seqs = [...chain.lines.keys()].sort((a, b) => a - b);
  await Promise.all(seqs.map(async (seq) => {
    const held = chain.lines.get(seq);
    held.leaf = await sha256(Uint8Array.of(0), held.line);
  }));
  for (const seq of seqs) {
    const { receipt, leaf } = chain.lines.get(seq);
    const before = chain.lines.get(seq - 1);
    const prev = seq === 0 ? "0".repeat(64) : before && hex(before.leaf);
    if (receipt.seq !== seq) wrong.push(`receipt ${seq} has another number`);
    if (receipt.run !== chain.run) wrong.push(`receipt ${seq} is of another run`);
    if (prev !== undefined && receipt.prev !== prev) wrong.push(`receipt ${seq} does not follow the one before it`);
    if (seq === chain.count - 1 && hex(leaf) !== chain.head) wrong.push("the last receipt is not the head");
  }
  const parts = [...seqs.map((seq) => [seq, 1, chain.lines.get(seq).leaf]), ...chain.rest.map(([at, size, hash]) => [at, size, unhex(hash)])];
  parts.sort((a, b) => a[0] - b[0]);
  const stack = [];
  let count = 0;
  for (const [at, size, hash] of parts) {
    if (at !== count) wrong.push(`something is missing or doubled before receipt ${at}`);
    count = at + size;
    let whole = { size, hash };
    while (stack.length && stack[stack.length - 1].size === whole.size) {
      whole = { size: 2 * whole.size, hash: await node(stack.pop().hash, whole.hash) };
    }
    stack.push(whole);
  }
  let found = stack.length ? stack.pop().hash : await sha256();
  while (stack.length) found = await node(stack.pop().hash, found);
  if (count !== chain.count) wrong.push(`there are ${count} receipts, not ${chain.count}`);
  chain.found = hex(found);
  if (chain.found !== chain.root) wrong.push(`the receipts lead to the root ${chain.found}`);
  return wrong.map((what) => (chain.place ? `${chain.place}: ${what}` : what));
};

/** That each run's root is the one that the suite's own receipts name. */
const joinRuns = () => {
  const named = new Map();
  for (const { receipt } of data.chains[0].lines.values()) {
    if (receipt.type === "run") named.set(receipt.body.place, receipt.body.receipts.root);
  }
  return data.chains.slice(1).filter((chain) => named.get(chain.place) !== chain.found)
    .map((chain) => `${chain.place}: no receipt of the suite names its root`);
};

const trust = { wrong: null, reason: "" };

const show = (state, text, wrong) => {
  root.dataset.state = state;
  $("trust-said").textContent = text;
  $("trust-broken").replaceChildren(...wrong.slice(0, 20).map((what) => html("li", null, isolated(what))));
  $("trust-broken").hidden = !wrong.length;
};

const bytesOf = (text) => {
  if (/^([0-9a-fA-F]{2})+$/.test(text)) return unhex(text.toLowerCase());
  try {
    return unbase(text);
  } catch {
    return new Uint8Array();
  }
};
const rootOf = (text) => {
  const bytes = bytesOf(text.trim());
  return bytes.length === 32 ? hex(bytes) : null;
};
const SPKI = "302a300506032b6570032100"; // the prefix of an Ed25519 key in its PEM form (RFC 8410)
const keyOf = (text) => {
  const bytes = bytesOf(text.replace(/-----[A-Z ]+-----/g, "").replace(/\s/g, ""));
  const bare = hex(bytes.subarray(0, 12)) === SPKI ? bytes.subarray(12) : bytes;
  return bare.length === 32 ? bare : null;
};

/** What the signed note in this page says under a key: whether it signs the computed root. */
const checkNote = async (key) => {
  const split = data.checkpoint.indexOf("\n\n");
  const text = encoder.encode(data.checkpoint.slice(0, split + 1));
  const [, size, base] = data.checkpoint.split("\n");
  const found = hex(unbase(base));
  const imported = await crypto.subtle.importKey("raw", key, "Ed25519", false, ["verify"]);
  for (const line of data.checkpoint.slice(split + 2).split("\n")) {
    const match = /^\u2014 (\S+) (\S+)$/.exec(line);
    if (!match) continue;
    const bytes = unbase(match[2]);
    const id = (await sha256(encoder.encode(match[1] + "\n"), Uint8Array.of(1), key)).subarray(0, 4);
    if (hex(id) !== hex(bytes.subarray(0, 4))) continue;
    if (!(await crypto.subtle.verify("Ed25519", imported, bytes.subarray(4), text))) return "the signature is not valid";
    const own = data.chains[0];
    return found === own.found && size === String(own.count) ? "" : "the key signed another root";
  }
  return "there is no signature of this key";
};

const judge = async () => {
  if (trust.reason) return show("unable", trust.reason, []);
  if (trust.wrong === null) return undefined;
  if (trust.wrong.length) return show("broken", "Broken: the receipts in this page do not belong together, or not to this page.", trust.wrong);
  const wantedRoot = $("expected-root").value.trim();
  const wantedKey = $("expected-key").value.trim();
  if (wantedRoot) {
    const given = rootOf(wantedRoot);
    if (given === null) return show("consistent", "Self-consistent. What you gave is no root: 64 hexadecimal digits, or base64 of 32 bytes.", []);
    if (given !== data.chains[0].found) return show("broken", "Not these: the receipts in this page lead to another root than the one you gave.", []);
    if (!wantedKey || data.checkpoint === null) return show("matches", "Matches: the receipts in this page are those of the root that you gave.", []);
  }
  if (wantedKey && data.checkpoint !== null) {
    const given = keyOf(wantedKey);
    if (given === null) return show("consistent", "Self-consistent. What you gave is no key: its PEM form, base64 or 64 hexadecimal digits.", []);
    let wrong;
    try {
      wrong = await checkNote(given);
    } catch {
      return show("consistent", "Self-consistent. This browser could not check the signature.", []);
    }
    if (wrong) return show("broken", `Not signed by this key: ${wrong}.`, []);
    return show("matches", "Matches: the key that you gave signed the root of the receipts in this page.", []);
  }
  return show("consistent", "Self-consistent: chain and Merkle root were recomputed here and fit. The author of the page could have made both, so compare the root with one that you got elsewhere.", []);
};

const check = async () => {
  if (!window.crypto || !crypto.subtle) {
    trust.reason = "Nothing was recomputed: this browser gives a page at this address no cryptography.";
    return judge();
  }
  try {
    if (trust.unread) throw trust.unread;
    const wrong = [];
    for (const chain of data.chains) wrong.push(...(await recompute(chain)));
    wrong.push(...joinRuns());
    if ($("printed-root").textContent !== data.chains[0].found) wrong.push("the root that is printed above is another one");
    trust.wrong = wrong;
  } catch (error) {
    trust.wrong = [`the receipts cannot be read: ${error.message}`];
  }
  $("trust-form").hidden = false;
  $("key-field").hidden = data.checkpoint === null;
  return judge();
};

// Single receipts

const shown = { chain: 0, seq: 0 };

const showReceipt = (number, seq) => {
  const chain = data.chains[number];
  Object.assign(shown, { chain: number, seq: Math.max(0, Math.min(seq, chain.count - 1)) });
  const held = chain.lines.get(shown.seq);
  $("receipt-chain").value = String(number);
  $("receipt-seq").value = String(shown.seq);
  $("receipt-seq").max = String(chain.count - 1);
  $("receipt-at").textContent = `of 0 to ${chain.count - 1}`;
  $("receipt-text").textContent = held ? plain(JSON.stringify(held.receipt, null, 2)) : "This receipt is not in the page. The bundle holds it.";
};

const prepareReceipts = () => {
  $("receipts").hidden = false;
  $("receipt-chain").append(...data.chains.map((chain, number) => html("option", { value: number }, plain(chain.place || chain.name))));
  const move = (number, seq) => {
    showReceipt(number, seq);
    target = `r.${shown.chain}.${shown.seq}`;
    address();
  };
  $("receipt-chain").addEventListener("input", () => move(Number($("receipt-chain").value), 0));
  $("receipt-seq").addEventListener("change", () => move(shown.chain, Number($("receipt-seq").value)));
  $("receipt-back").addEventListener("click", () => move(shown.chain, shown.seq - 1));
  $("receipt-on").addEventListener("click", () => move(shown.chain, shown.seq + 1));
  showReceipt(0, 0);
};

// Steps of an episode, read off its receipts

const CELL = 10;
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const shade = (pair) => pair[dark.matches ? 1 : 0];
const follows = (state, path) => path.split(".").reduce((value, name) => (value === undefined || value === null ? undefined : value[name]), state);
const placeOf = (value) => {
  if (Number.isInteger(value)) return { x: value % 256, y: Math.floor(value / 256) };
  return value && Number.isInteger(value.x) && Number.isInteger(value.y) ? { x: value.x, y: value.y } : null;
};

/** The map of each frame of an episode, out of the first one and what differs in each later one; empty without them. */
const mapsOf = (held) => {
  let rows = [];
  return (held || []).map((map) => {
    if (Array.isArray(map[0])) rows = map;
    else {
      rows = rows.map((row) => [...row]);
      for (let index = 0; index + 1 < map.length; index += 2) rows[Math.floor(map[index] / rows[0].length)][map[index] % rows[0].length] = map[index + 1];
    }
    return rows;
  });
};

/** The frames of an episode: what is before the first step, then what is after each. */
const readEpisode = (number, episode) => {
  const chain = data.chains[number];
  const drawing = chain.drawing || null;
  const maps = mapsOf((chain.maps || {})[episode]);
  const story = { number, episode, drawing, maps, cells: maps[0] || null, frames: [], end: null };
  const commits = {};
  let next = { drifts: [], probes: [], entries: 0 };
  for (const seq of [...chain.lines.keys()].sort((a, b) => a - b)) {
    const { receipt: { type, body } } = chain.lines.get(seq);
    if (!body || body.episode !== episode) {
      if (type === "audit" && story.frames.length && !story.end) next.entries += 1;
      continue;
    }
    const last = story.frames[story.frames.length - 1];
    if (type === "episode") {
      const places = {};
      for (const token of drawing ? drawing.tokens : []) places[token.name] = placeOf(follows(body.state, token.start));
      if (drawing && drawing.cells !== null) story.cells = body.state[drawing.cells];
      story.frames.push({ seq, places, jumps: {} });
    } else if (type === "drift" && last) {
      next.drifts.push(body);
      for (const token of drawing ? drawing.tokens : []) {
        const [first, ...rest] = token.start.split(".");
        if (body.changed[first]) {
          last.places[token.name] = placeOf(follows({ [first]: body.changed[first].to }, [first, ...rest].join(".")));
          last.jumps[token.name] = true;
        }
      }
    } else if (type === "probe") next.probes.push({ seq, body });
    else if (type === "commit") commits[body.agent || ""] = { seq, body };
    else if (type === "step" && last) {
      const places = { ...last.places };
      for (const token of drawing ? drawing.tokens : []) {
        if (token.each !== null && body.record) places[token.name] = placeOf(body.record[token.each]);
      }
      const commit = commits[body.agent || ""] || null;
      delete commits[body.agent || ""];
      story.frames.push({ seq, body, ...next, commit, places, jumps: {} });
      next = { drifts: [], probes: [], entries: 0 };
    } else if (type === "error") next.error = body;
    else if (type === "episode_end") story.end = { seq, body };
  }
  return story;
};

const wholeEpisodes = () => data.chains.flatMap((chain, number) => {
  if (chain.recorded) return [];
  const known = new Map();
  for (const { receipt: { type, body } } of chain.lines.values()) {
    if (!body || !Number.isInteger(body.episode)) continue;
    const seen = known.get(body.episode) || { steps: 0, end: null };
    if (type === "step") seen.steps += 1;
    if (type === "episode_end") seen.end = body;
    known.set(body.episode, seen);
  }
  return [...known].filter(([, seen]) => seen.end && seen.steps === seen.end.steps && seen.steps > 0)
    .map(([episode]) => ({ number, episode })).sort((a, b) => a.episode - b.episode);
});

const shape = (kind, at, attributes) => {
  const [x, y] = [at.x * CELL + CELL / 2, at.y * CELL + CELL / 2];
  if (kind === "disc") return svg("circle", { cx: x, cy: y, r: 3.4, ...attributes });
  const reach = kind === "diamond" ? 4.4 : 3;
  const outline = kind === "diamond" ? [[0, -reach], [reach, 0], [0, reach], [-reach, 0]] : [[-reach, -reach], [reach, -reach], [reach, reach], [-reach, reach]];
  return svg("path", { d: `M${outline.map(([a, b]) => `${x + a} ${y + b}`).join("L")}z`, ...attributes });
};

/** Runs of equal cells within rows, one path for each code. */
const paint = (rows, each) => {
  const paths = new Map();
  rows.forEach((row, y) => {
    for (let x = 0; x < row.length;) {
      let end = x + 1;
      while (end < row.length && row[end] === row[x]) end += 1;
      paths.set(row[x], `${paths.get(row[x]) || ""}M${x * CELL} ${y * CELL}h${(end - x) * CELL}v${CELL}h${(x - end) * CELL}z`);
      x = end;
    }
  });
  return [...paths].map(([code, d]) => svg("path", { d, ...each(code) }));
};

const lattice = (width, height) => {
  if (Math.max(width, height) > 64) return [];
  const down = Array.from({ length: width + 1 }, (_, x) => `M${x * CELL} 0v${height * CELL}`);
  const across = Array.from({ length: height + 1 }, (_, y) => `M0 ${y * CELL}h${width * CELL}`);
  return [svg("path", { d: [...down, ...across].join(""), class: "grid" })];
};

const play = { story: null, frame: 0, timer: 0 };

/** The number of the step of a frame, as receipts and `spec trace` count: from 0; the first frame is the start. */
const stepOf = (story, frame) => (frame ? story.frames[frame].body.t : null);

/** The first frame of a step; that of the start without one. */
const frameOf = (story, t) => (t === null ? 0 : Math.max(0, story.frames.findIndex(({ body }) => body && body.t === t)));

const drawMap = () => {
  const { story, frame } = play;
  const holder = $("replay-map");
  holder.replaceChildren();
  const shown = story.maps[Math.min(frame, story.maps.length - 1)] || story.cells;
  if (!shown) return;
  const height = shown.length;
  const width = Math.max(...shown.map((row) => row.length));
  const colours = new Map(story.drawing.colours.map(([code, , ...pair]) => [code, shade(pair)]));
  const drawn = svg("svg", { viewBox: `0 0 ${width * CELL} ${height * CELL}`, role: "img", "aria-label": frame ? `The map after step ${stepOf(story, frame)}` : "The map at the start" });
  drawn.append(...paint(shown, (code) => ({ fill: colours.get(code) || "#d0a215" })), ...lattice(width, height));
  for (const token of story.drawing.tokens) {
    const fill = shade(token.colour);
    if (token.each !== null) {
      for (const [last, kind] of [[story.frames.length - 1, "way faint"], [frame, "way"]]) {
        const way = story.frames.slice(0, last + 1).map((one) => one.places[token.name]).filter(Boolean);
        const points = way.map((at) => `${at.x * CELL + CELL / 2},${at.y * CELL + CELL / 2}`).join(" ");
        drawn.append(svg("polyline", { points, class: kind, stroke: fill }));
      }
    }
    const at = story.frames[frame].places[token.name];
    if (at) drawn.append(svg("g", null, svg("title", null, plain(token.name)), shape(token.shape, at, { fill, class: "token" })));
  }
  holder.append(drawn);
};

const swatch = (attributes, name) => html("span", null, svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("rect", { width: 10, height: 10, ...attributes })), plain(name));

const drawLegend = () => {
  const { story } = play;
  $("replay-legend").replaceChildren();
  if (!story.cells) return;
  const used = new Set([story.cells, ...story.maps].flat(2));
  const named = story.drawing.colours.filter(([code]) => used.has(code)).map(([, name, ...pair]) => swatch({ fill: shade(pair) }, name));
  const tokens = story.drawing.tokens.map((token) => swatch({ fill: shade(token.colour), rx: token.shape === "disc" ? 5 : 0 }, token.name));
  $("replay-legend").append(...named, ...tokens);
};

const number = (value, unit) => String(Math.round((value / unit) * 100) / 100);

/** A value with its fixed-point numbers in units; `units` is the tree of what of it is fixed point. */
const express = (value, units) => {
  if (units === null || units === undefined) return value;
  if (Number.isInteger(units)) return Number.isInteger(value) ? value / units : value;
  if (Array.isArray(value)) return value.map((one) => express(one, units["*"]));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, express(one, units[name] ?? units["*"])]));
};

/** The units of a part of the receipts of a chain; of every part of a map. */
const unitsOf = (story, ...path) => path.reduce((units, name) => units?.[name] ?? units?.["*"], data.chains[story.number].units);

/** A value for people: the digits of a large number in groups of three. */
const grouped = (value) => (Number.isInteger(value) && Math.abs(value) >= 1e6 ? String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f") : value);

/** A value as the tables show it: `by 4, to (x 1, y 2)`. */
const inWords = (value) => {
  if (value === null) return "none";
  if (typeof value !== "object") return String(grouped(value));
  const inner = (one) => (typeof one === "object" && one !== null && Object.keys(one).length ? `(${inWords(one)})` : inWords(one));
  if (Array.isArray(value)) return value.map((one) => (Array.isArray(one) ? inner(one) : inWords(one))).join("; ") || "none";
  return Object.entries(value).map(([name, one]) => `${name} ${inner(one)}`).join(", ") || "none";
};

const series = (story) => {
  const charts = story.drawing ? story.drawing.charts : [];
  const found = charts.map((chart) => ({ name: chart.name, unit: chart.unit, of: (body) => (body.record ? body.record[chart.of] : null) }));
  found.push({ name: "price of each step", unit: unitsOf(story, "step", "cost", "total") || 1, of: (body) => (body.cost ? body.cost.total : null) });
  found.push({ name: "proposals rejected in each step", unit: 1, of: (body) => body.decisions.filter((one) => one.rejected.length).length });
  return found;
};

const drawCharts = () => {
  const { story, frame } = play;
  const last = story.frames.length - 1;
  const [width, height] = [480, 54];
  const charts = series(story).map(({ name, unit, of }) => {
    const values = story.frames.slice(1).map(({ body }) => of(body));
    const known = values.filter(Number.isInteger);
    if (!known.some((one) => one !== 0)) return null;
    const [low, high] = [known.reduce((a, b) => Math.min(a, b)), known.reduce((a, b) => Math.max(a, b))];
    const across = (step) => (step * width) / Math.max(last, 1);
    const up = (value) => (high > low ? height - 3 - ((value - low) * (height - 6)) / (high - low) : height / 2);
    let d = "";
    values.forEach((value, index) => {
      if (Number.isInteger(value)) d += `${index && Number.isInteger(values[index - 1]) ? "L" : "M"}${across(index + 1).toFixed(1)} ${up(value).toFixed(1)}`;
    });
    const drifts = story.frames.flatMap((one, index) => (one.drifts && one.drifts.length ? [across(index - 1)] : []));
    const here = values[frame - 1];
    const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", preserveAspectRatio: "none",
      "aria-label": `${plain(name)}: from ${number(low, unit)} to ${number(high, unit)}` },
    svg("path", { d: `M0 0v${height}h${width}`, class: "axis" }),
    ...drifts.map((x) => svg("path", { d: `M${x} 0v${height}`, class: "drifted" })),
    svg("path", { d, class: "curve" }), svg("path", { d: `M${across(frame)} 0v${height}`, class: "now" }));
    drawn.addEventListener("click", (event) => {
      const box = drawn.getBoundingClientRect();
      seek(Math.round(((event.clientX - box.left) / box.width) * last));
    });
    const told = Number.isInteger(here) ? number(here, unit) : "";
    return html("figure", null, html("figcaption", null, html("span", null, plain(name)), html("span", null, `${told} (${number(low, unit)} to ${number(high, unit)})`)), drawn);
  });
  $("replay-charts").replaceChildren(...charts.filter(Boolean));
};

const table = (heads, rows) => html("table", null, html("thead", null, html("tr", null, ...heads.map((head) => html("th", { scope: "col" }, head)))), html("tbody", null, ...rows));
const link = (seq, text) => html("a", { href: `#r.${play.story.number}.${seq}` }, text);
const cells = (...values) => values.map((value) => html("td", null, value));

const proposals = (step) => step.commit.body.proposals.map((recorded, index) => {
  const proposal = express(recorded, unitsOf(play.story, "commit", "proposals", "*"));
  const decision = step.body.decisions[index];
  const chosen = step.body.chosen === index;
  const why = decision.error ? [decision.error.code] : decision.rejected.map((one) => `${one.gate}: ${one.reason}`);
  const action = proposal.action || proposal;
  const { op, ...rest } = action;
  const outcome = chosen ? "chosen" : why.length ? why.join(", ") : "admitted";
  const row = html("tr", { class: chosen ? "chosen" : why.length ? "rejected" : null });
  row.append(...cells(isolated(op === undefined ? action : Object.keys(rest).length ? `${op} ${inWords(rest)}` : op), isolated(grouped(proposal.score ?? "")), isolated(outcome)));
  return row;
});

const tellStep = () => {
  const { story, frame } = play;
  const step = story.frames[frame];
  const holder = $("replay-step");
  const title = frame ? `Step ${stepOf(story, frame)}` : "The start";
  const who = frame && step.body.agent ? [" of ", isolated(step.body.agent)] : [];
  const parts = [html("h3", null, title, ...who, " ", link(step.seq, `receipt ${step.seq}`))];
  if (frame) {
    for (const drift of step.drifts) parts.push(html("p", null, "Drift before it: ", isolated(drift.drift), " ", isolated(inWords(express(drift.changed, unitsOf(story, "drift", "changed"))))));
    if (step.commit) parts.push(html("p", null, "Committed before it was judged: ", link(step.commit.seq, `receipt ${step.commit.seq}`)), table(["proposal", "score", "outcome"], proposals(step)));
    if (step.body.chosen === null) parts.push(html("p", { class: "broken" }, "Nothing was admissible."));
    for (const breach of step.body.violations) parts.push(html("p", { class: "broken" }, "Broken: ", isolated(breach.invariant), " ", isolated(inWords(express(breach.witness, unitsOf(story, "witness", breach.invariant))))));
    for (const probe of step.probes) parts.push(html("p", null, "Probe ", isolated(probe.body.probe), ": ", isolated(probe.body.verdict), " ", isolated(probe.body.cause), " ", link(probe.seq, `receipt ${probe.seq}`)));
    if (step.entries) parts.push(html("p", null, `${step.entries} entries of the kernel's log.`));
    const moved = Object.entries(express(step.body.potentials || {}, unitsOf(story, "step", "potentials"))).map(([name, { from, to }]) => html("tr", null, ...cells(isolated(name), isolated(`${grouped(from)} to ${grouped(to)}`))));
    const record = Object.entries(express(step.body.record || {}, unitsOf(story, "step", "record"))).map(([name, value]) => html("tr", null, ...cells(isolated(name), isolated(grouped(value)))));
    const price = Object.entries(express(step.body.cost || {}, unitsOf(story, "step", "cost"))).map(([name, value]) => html("tr", null, ...cells(isolated(name), isolated(grouped(value)))));
    if (moved.length) parts.push(table(["potential", "from and to"], moved));
    if (record.length) parts.push(table(["figure", "after the step"], record));
    if (price.length) parts.push(table(["price", "amount"], price));
  }
  if (frame === story.frames.length - 1 && story.end) parts.push(html("p", null, "The episode ended: ", isolated(story.end.body.ended), ", ", link(story.end.seq, `receipt ${story.end.seq}`)));
  holder.replaceChildren(...parts);
};

const seek = (frame) => {
  const { story } = play;
  play.frame = Math.max(0, Math.min(frame, story.frames.length - 1));
  $("replay-frame").value = String(play.frame);
  const last = stepOf(story, story.frames.length - 1);
  $("replay-at").textContent = play.frame ? `step ${stepOf(story, play.frame)} of 0 to ${last}` : `start, before step 0 of 0 to ${last}`;
  $("replay-frame").setAttribute("aria-valuetext", $("replay-at").textContent);
  drawMap();
  drawCharts();
  tellStep();
};

const keep = () => {
  const t = stepOf(play.story, play.frame);
  const turn = t === null ? 0 : play.frame - frameOf(play.story, t);
  target = ["s", play.story.number, play.story.episode, ...(t === null ? [] : [t]), ...(turn ? [turn] : [])].join(".");
  address();
};

const openEpisode = (chain, episode, t, turn = 0) => {
  const story = readEpisode(chain, episode);
  if (!story.frames.length) return;
  play.story = story;
  $("replay-which").value = `${chain}.${episode}`;
  $("replay-frame").max = String(story.frames.length - 1);
  drawLegend();
  seek(frameOf(story, t) + turn);
};

const rest = () => {
  clearInterval(play.timer);
  play.timer = 0;
  $("replay-play").setAttribute("aria-pressed", "false");
  $("replay-play").textContent = "Play";
  $("replay-step").setAttribute("aria-live", "polite");
};

const prepareReplay = () => {
  const whole = wholeEpisodes();
  if (!whole.length) return;
  $("replay").hidden = false;
  const several = data.chains.length > 1;
  $("replay-which").append(...whole.map(({ number: chain, episode }) => html("option", { value: `${chain}.${episode}` }, `${several ? `${plain(data.chains[chain].name)}, ` : ""}episode ${episode}`)));
  $("replay-which").addEventListener("input", () => {
    rest();
    const [chain, episode] = $("replay-which").value.split(".").map(Number);
    openEpisode(chain, episode, null);
    keep();
  });
  const step = (by) => { rest(); seek(play.frame + by); keep(); };
  $("replay-frame").addEventListener("input", () => { rest(); seek(Number($("replay-frame").value)); });
  $("replay-frame").addEventListener("change", keep);
  $("replay-back").addEventListener("click", () => step(-1));
  $("replay-on").addEventListener("click", () => step(1));
  $("replay-play").addEventListener("click", () => {
    if (play.timer) { rest(); keep(); return; }
    $("replay-play").setAttribute("aria-pressed", "true");
    $("replay-play").textContent = "Pause";
    $("replay-step").setAttribute("aria-live", "off");
    if (play.frame === play.story.frames.length - 1) seek(0);
    play.timer = setInterval(() => {
      if (play.frame === play.story.frames.length - 1) { rest(); keep(); } else seek(play.frame + 1);
    }, 220);
  });
  dark.addEventListener("change", () => { drawLegend(); seek(play.frame); });
  openEpisode(whole[0].number, whole[0].episode, 0);
};

// The space-time of a law

const ring = { which: 0, frame: 0 };

const classOf = (drawn, symbol) => {
  const others = [...drawn.symbols].filter((one) => one !== drawn.empty);
  return symbol === drawn.empty ? "k0" : `k${1 + (others.indexOf(symbol) % 7)}`;
};

const drawRing = () => {
  const drawn = data.spacetimes[ring.which];
  const [width, height] = [drawn.rows[0].length, drawn.rows.length];
  ring.frame = Math.max(0, Math.min(ring.frame, height - 1));
  const [from, to] = drawn.excerpt;
  const picture = svg("svg", { viewBox: `-4 0 ${width * CELL + 4} ${height * CELL}`, role: "img", "aria-label": `${height} states of a ring of ${width} cells` });
  picture.append(...paint(drawn.rows.map((row) => [...row]), (symbol) => ({ class: classOf(drawn, symbol) })), ...lattice(width, height));
  if (width <= 40 && height <= 40) {
    drawn.rows.forEach((row, y) => [...row].forEach((symbol, x) => picture.append(svg("text", { x: x * CELL + CELL / 2, y: y * CELL + 7.4, class: symbol === drawn.empty ? "symbol none" : "symbol" }, plain(symbol)))));
  }
  if (from < Math.min(to, height)) picture.append(svg("rect", { x: -4, y: from * CELL, width: 2, height: (Math.min(to, height) - from) * CELL, class: "marked" }));
  picture.append(svg("rect", { x: 0, y: ring.frame * CELL, width: width * CELL, height: CELL, class: "outline" }));
  picture.style.maxWidth = `${Math.max(width * 22, 120)}px`;
  $("spacetime-map").replaceChildren(picture);
  $("spacetime-legend").replaceChildren(...[...drawn.symbols].map((symbol) => swatch({ class: classOf(drawn, symbol) }, symbol)));
  $("spacetime-frame").max = String(height - 1);
  $("spacetime-frame").value = String(ring.frame);
  $("spacetime-at").textContent = `${ring.frame} of ${drawn.states - 1}`;
  const values = drawn.observables[ring.frame] || {};
  $("spacetime-said").textContent = drawn.said;
  const parts = [html("h3", null, `State ${ring.frame}`), html("p", null, html("code", null, plain(drawn.rows[ring.frame])))];
  parts.push(html("p", null, html("a", { href: `#${drawn.anchor}` }, plain(drawn.law)), ` (${plain(drawn.status)}): `, html("code", null, plain(drawn.claim))));
  if (ring.frame === drawn.t) parts.push(html("p", { class: "broken" }, "Here the claim is violated."));
  const rows = Object.entries(values).map(([name, value]) => html("tr", null, ...cells(isolated(name), isolated(value))));
  if (rows.length) parts.push(table(["observable", "value"], rows));
  if (drawn.states > height) parts.push(html("p", { class: "note" }, `The first ${height} of ${drawn.states} states are drawn.`));
  $("spacetime-step").replaceChildren(...parts);
};

const prepareRing = () => {
  if (!data.spacetimes.length) return;
  $("spacetime").hidden = false;
  $("spacetime-which").append(...data.spacetimes.map((drawn, index) => html("option", { value: index }, `${plain(drawn.law)}, ${drawn.t === null ? "an example" : "counterexample"}`)));
  const move = (which, frame) => { Object.assign(ring, { which, frame }); drawRing(); };
  $("spacetime-which").addEventListener("input", () => move(Number($("spacetime-which").value), 0));
  $("spacetime-frame").addEventListener("input", () => move(ring.which, Number($("spacetime-frame").value)));
  $("spacetime-back").addEventListener("click", () => move(ring.which, ring.frame - 1));
  $("spacetime-on").addEventListener("click", () => move(ring.which, ring.frame + 1));
  move(0, data.spacetimes[0].t || 0);
};

// Begin

const listPanels = () => {
  for (const id of ["replay", "spacetime", "receipts"]) {
    if (!$(id).hidden) document.querySelector("nav li:last-child").before(html("li", null, html("a", { href: `#${id}` }, $(`${id}-title`).textContent)));
  }
};

for (const id of ["expected-root", "expected-key"]) $(id).addEventListener("input", judge);
try {
  readLines();
  prepareReceipts();
  prepareReplay();
  prepareRing();
} catch (error) {
  trust.unread = error;
}
listPanels();
openers.push((wanted) => {
  const receipt = /^r\.(\d+)\.(\d+)$/.exec(wanted);
  if (!receipt || !data.chains[receipt[1]]) return false;
  showReceipt(Number(receipt[1]), Number(receipt[2]));
  $("receipts").scrollIntoView();
  $("receipt-text").focus({ preventScroll: true });
  return true;
}, (wanted) => {
  const steps = /^s\.(\d+)\.(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(wanted);
  if (!steps || !data.chains[steps[1]]) return false;
  openEpisode(Number(steps[1]), Number(steps[2]), steps[3] === undefined ? null : Number(steps[3]), Number(steps[4] || 0));
  $("replay").scrollIntoView();
  $("replay-frame").focus({ preventScroll: true });
  return true;
});
beginSearch();
check();
