// What pages do by themselves. Every action works without any of this; see each file.

import "./arming.js";
import "./bulk.js";
import "./copy.js";
import "./countdown.js";
import "./detail.js";
import "./extending.js";
import "./filtering.js";
import "./keys.js";
import "./live.js";
import "./looking.js";
import "./menu.js";
import "./queue.js";
import "./remember.js";
import "./swapping.js";
