// SPDX-License-Identifier: Apache-2.0
// What the search of Sphinx lacks.
"use strict";

// Words with hyphens and full stops, such as http-404 and fetch.proxy, are one. Sphinx uses this if it is there.
function splitQuery(query) {
  return query
    .split(/[^\p{Letter}\p{Number}_.-]+/gu)
    .map((word) => word.replace(/^[.-]+|[.-]+$/g, ""))
    .filter(Boolean);
}

// Says below each result what it is about: from a file, a page cannot read the one that was found.

document.addEventListener("DOMContentLoaded", () => {
  const results = document.getElementById("search-results");
  new MutationObserver((changes) => {
    if (!changes.some((change) => change.addedNodes.length)) return;
    for (const item of results.querySelectorAll("ul.search > li:not([data-described])")) {
      item.dataset.described = "";
      const link = item.querySelector("a");
      const [page, anchor] = link.getAttribute("href").split("#");
      const text = excerpts[`${page}#${anchor}`] ?? excerpts[page];
      if (!text) continue;
      const line = document.createElement("p");
      line.textContent = text;
      item.append(line);
    }
  }).observe(results, { childList: true, subtree: true });
});
