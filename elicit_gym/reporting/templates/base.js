"use strict";
const $ = id => document.getElementById(id);
function add(parent, tag, text, cls) { const e = document.createElement(tag); if (text !== undefined) e.textContent = text; if (cls) e.className = cls; parent.appendChild(e); return e; }
// Objects without a prototype: a name such as __proto__ or constructor is a key like any other, and is there or not.
function parse(text) { return JSON.parse(text, (_, value) => value !== null && typeof value === "object" && !Array.isArray(value) ? Object.assign(Object.create(null), value) : value); }
async function unpack() {
  const bytes = Uint8Array.from(atob($("data").textContent.trim()), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return parse(await new Response(stream).text());
}
function options(select, values) { for (const [value, label] of values) { const o = add(select, "option", label); o.value = value; } }
for (const element of document.querySelectorAll("[data-colour]")) element.style.background = element.dataset.colour;
