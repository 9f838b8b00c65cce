// What pages do by themselves. Every action works without any of this; see each file.

import "./arming.js";
import "./copy.js";
import "./countdown.js";
import "./detail.js";
import "./filtering.js";
import "./keys.js";
import "./live.js";
import "./menu.js";
import "./queue.js";
import "./remember.js";
import "./swapping.js";
import "./windows.js";
