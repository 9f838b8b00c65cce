// What pages do by themselves. Every action works without any of this; see each file.

import "./pressing.js";
import "./bulk.js";
import "./copy.js";
import "./countdown.js";
import "./times.js";
import "./request.js";
import "./advancing.js";
import "./reason.js";
import "./queue.js";
import "./opening.js";
import "./walking.js";
import "./keys.js";
import "./live.js";
import "./view.js";
import "./menu.js";
import "./pick.js";
import "./notify.js";
import "./grant.js";
import "./drafts.js";
import "./using.js";
import "./swapping.js";

/** What has a device sign is fetched once a form of it is there. */
function bringSigning() {
  if (document.querySelector("form[data-passkey]")) import("./passkey.js");
}

document.addEventListener("htmx:afterSettle", bringSigning);
bringSigning();
