// Offers more time when the end of a time limit comes near. Without this file the offer is on the
// page that is loaded then.

import { disarm } from "./arming.js";
import { serverNow } from "./countdown.js";

function offer() {
  for (const form of document.querySelectorAll("form.extend[hidden]")) {
    if (serverNow() < Date.parse(form.dataset.opens)) continue;
    form.hidden = false;
    disarm(); // the bar has grown
  }
}

offer();
setInterval(offer, 1000);
document.addEventListener("htmx:afterSettle", offer);
