// What pages do by themselves. Every action works without any of this; see each file.

import "./pressing.js";
import "./bulk.js";
import "./copy.js";
import "./countdown.js";
import "./request.js";
import "./queue.js";
import "./keys.js";
import "./live.js";
import "./view.js";
import "./menu.js";
import "./notify.js";
import "./account.js";
import "./grant.js";
import "./swapping.js";
