// The agent of honest.py in JavaScript, for Node.js.
const { createHash, randomBytes } = require("crypto");

const MOVES = { N: [0, -1], E: [1, 0], S: [0, 1], W: [-1, 0] };
const far = (a, b) => Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
const first = (items, measure) => items.reduce((best, one) => (measure(one) < measure(best) ? one : best));

function choose(me, things) {
  if (me.inventory.length || !things.length) return { op: "wait" };
  const here = things.filter((thing) => far(thing, me) === 0);
  if (here.length) return { op: "pickup", id: here[0].id };
  const goal = first(things, (thing) => far(thing, me));
  const dir = first(Object.keys(MOVES), (d) => far(goal, { x: me.x + MOVES[d][0], y: me.y + MOVES[d][1] }));
  return { op: "move", dir };
}

function state({ self: me, objects }) { // the choice, and what it would be if a variable had another value
  const { x, y } = objects[0] ?? { x: 0, y: 0 };
  const inventory = me.inventory.length ? [] : ["coin-9"];
  const ideas = [["self.inventory", inventory, { inventory }], ["self.energy", 0, { energy: 0 }], ["self.pos", { x, y }, { x, y }]];
  const claims = ideas.map(([variable, becomes, change]) => ({ variable, becomes, choice: choose({ ...me, ...change }, objects) }));
  return { action: choose(me, objects), claims };
}

const sorted = (value) => // canonical JSON: keys in order, no white space
  Array.isArray(value) ? value.map(sorted)
    : value && typeof value === "object" ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]))
      : value;
const stated = {}, secrets = {};

function answer(message) {
  if (message.type === "hello") return { type: "hello", name: "honest-js", state: "none", deterministic: true };
  if (message.type === "offer") return { type: "declined" };
  if (message.type === "restate") return { type: "statement", ...stated[message.of] };
  if (message.type === "reveal") return secrets[message.commitment];
  if (!["decide", "ask"].includes(message.type)) return { type: "ready" };
  const body = (stated[message.id] = state(message.observation)), nonce = randomBytes(16);
  const commitment = createHash("sha256").update(nonce).update(JSON.stringify(sorted(body))).digest("hex");
  secrets[commitment] = { type: "reveal", nonce: nonce.toString("hex"), payload: body };
  return { type: "statement", ...body, ...(message.type === "decide" ? { commitment } : {}) };
}

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  console.log(JSON.stringify({ ...answer(message), id: message.id }));
});
