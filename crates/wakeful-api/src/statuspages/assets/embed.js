// Links to a status page from another site, and shows a banner while something is wrong:
// <div><script src="https://status.example.com/embed.js" async></script></div>
(() => {
  const script = document.currentScript;
  if (!script) return;
  const url = new URL(script.src);
  const base = url.origin + url.pathname.replace(/\/embed\.js$/, "");
  const colors = { maintenance: "#1d4ed8", minor: "#854d0e", major: "#9a3412", critical: "#b91c1c" };
  const link = (text) => {
    const a = document.createElement("a");
    a.href = base || url.origin;
    a.target = "_blank";
    a.rel = "noopener";
    a.textContent = text;
    return a;
  };
  const banner = (status) => {
    const bar = document.createElement("div");
    bar.setAttribute("role", "status");
    bar.style.cssText =
      "position:fixed;inset-inline:0;bottom:0;z-index:9999;padding:.75rem 1rem;text-align:center;" +
      "font:1rem/1.4 system-ui,sans-serif;color:#fff;background:" + (colors[status.indicator] || "#333");
    const a = link(status.description);
    a.style.color = "inherit";
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = "\u00d7";
    close.setAttribute("aria-label", "Close");
    close.style.cssText =
      "margin-inline-start:1rem;min-width:24px;min-height:24px;border:0;background:none;color:inherit;font:inherit";
    close.onclick = () => bar.remove();
    bar.append(a, close);
    document.body.append(bar);
  };
  const show = () => {
    const parent = script.parentElement;
    const place = parent && parent !== document.head ? parent : document.body;
    const a = link("Status");
    place.append(a);
    fetch(base + "/api/v2/status.json" + url.search, { credentials: "omit" })
      .then((response) => (response.ok ? response.json() : Promise.reject(response.status)))
      .then(({ status }) => {
        a.textContent = status.description;
        if (status.indicator !== "none") banner(status);
      })
      .catch(() => {});
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", show);
  else show();
})();
