// Elements, made of what they are and what is in them. Texts of others are only ever text nodes.

/** element("p.dim", {title: "…"}, "text", child, null) */
export function element(what, ...rest) {
  const [name, ...classes] = what.split(".");
  const made = document.createElement(name);
  if (classes.length) made.className = classes.join(" ");
  for (const one of rest.flat(Infinity)) {
    if (one === null || one === undefined || one === false) continue;
    if (typeof one === "object" && !(one instanceof Node)) {
      for (const [key, value] of Object.entries(one)) {
        if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
        else if (value === true) made.setAttribute(key, "");
        else if (value !== false && value !== undefined) made.setAttribute(key, value);
      }
    } else made.append(one);
  }
  return made;
}

/** A number as people read it. */
export function shown(number) {
  return number.toLocaleString("en");
}
