import js from "@eslint/js";
import globals from "globals";

// Ways to make HTML of text: what an agent wrote must stay text.
const BUILT_HTML = [
  "AssignmentExpression[left.property.name=/^(innerHTML|outerHTML|srcdoc)$/]",
  "CallExpression[callee.property.name=/^(insertAdjacentHTML|setHTMLUnsafe|createContextualFragment)$/]",
  "CallExpression[callee.object.name='document'][callee.property.name=/^(write|writeln)$/]",
];

export default [
  js.configs.recommended,
  {
    languageOptions: {
      ecmaVersion: 2024,
      sourceType: "module",
      globals: { ...globals.browser, htmx: "readonly" },
    },
    linterOptions: { reportUnusedDisableDirectives: "error", reportUnusedInlineConfigs: "error" },
    rules: {
      complexity: ["error", 10],
      eqeqeq: "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-script-url": "error",
      "no-implicit-globals": ["error", { lexicalBindings: true }],
      "no-param-reassign": "error",
      "no-promise-executor-return": "error",
      "no-restricted-syntax": [
        "error",
        ...BUILT_HTML.map((selector) => ({ selector, message: "Text becomes HTML here." })),
      ],
      "no-self-compare": "error",
      "no-shadow": "error",
      "no-template-curly-in-string": "error",
      "no-throw-literal": "error",
      "no-unused-expressions": ["error", { allowShortCircuit: true }],
      "no-unused-vars": "error",
      "no-use-before-define": ["error", { functions: false, variables: false }],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "prefer-template": "error",
      radix: "error",
    },
  },
];
