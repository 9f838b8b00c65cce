import { fileURLToPath } from "node:url";

// These two define what the others use, and only they name colours.
const NAMING = ["tokens.css", "code.css"].map((name) =>
  fileURLToPath(new URL(`../../static/css/${name}`, import.meta.url)),
);

export default {
  extends: ["stylelint-config-standard"],
  plugins: ["stylelint-value-no-unknown-custom-properties"],
  reportDescriptionlessDisables: true,
  reportInvalidScopeDisables: true,
  reportNeedlessDisables: true,
  reportUnscopedDisables: true,
  rules: {
    "csstools/value-no-unknown-custom-properties": [true, { importFrom: NAMING }],
    "color-named": "never",
    "color-no-hex": true,

    // block, block--variant; ids are the same without variants, or Django's
    "selector-class-pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)*(--[a-z0-9]+(-[a-z0-9]+)*)?$",
    "selector-id-pattern": "^(id_)?[a-z][a-z0-9_]*(-[a-z0-9]+)*$",

    "color-hex-length": "long", // all are compared digit by digit
    "media-feature-range-notation": "prefix", // older browsers know only this one
    "property-no-vendor-prefix": [true, { ignoreProperties: ["-webkit-text-size-adjust"] }], // Safari's
    "value-keyword-case": ["lower", { camelCaseSvgKeywords: true, ignoreKeywords: [/^[A-Z]/] }], // fonts

    // Rules that go together stand without an empty line, and short ones on one line.
    "at-rule-empty-line-before": null,
    "comment-empty-line-before": null,
    "custom-property-empty-line-before": null,
    "declaration-block-single-line-max-declarations": null,
    "declaration-empty-line-before": null,
    "rule-empty-line-before": null,

    // It compares parts of different pages because both end in .icon or summary.
    "no-descending-specificity": null,
  },
  overrides: [{ files: NAMING, rules: { "color-no-hex": null } }],
};
