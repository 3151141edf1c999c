/** An element with attributes and content. Texts are never parsed as HTML. */
export function element<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Record<string, string>,
  ...content: (Node | string)[]
): HTMLElementTagNameMap[T] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}
