// What pages do by themselves. Every action works without any of this; see each file.

import "./arming.js";
import "./bulk.js";
import "./copy.js";
import "./countdown.js";
import "./detail.js";
import "./extending.js";
import "./filtering.js";
import "./holding.js";
import "./keys.js";
import "./live.js";
import "./looking.js";
import "./menu.js";
import "./notify.js";
import "./queue.js";
import "./reach.js";
import "./remember.js";
import "./swapping.js";
import "./windows.js";
