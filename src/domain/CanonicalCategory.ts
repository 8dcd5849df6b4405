/** Categories of findings, under one name each. Pure. */

/** Names that models use for the same thing. */
const synonyms: Readonly<Record<string, string>> = {
  bug: "correctness",
  "logic-error": "correctness",
  logic: "correctness",
  "off-by-one": "correctness",
  functional: "correctness",
  vulnerability: "security",
  injection: "security",
  "sql-injection": "security",
  "race-condition": "concurrency",
  race: "concurrency",
  "thread-safety": "concurrency",
  perf: "performance",
  efficiency: "performance",
  leak: "resource-leak",
  "resource-management": "resource-leak",
  "memory-leak": "resource-leak",
  "error-handling": "error-handling",
  errors: "error-handling",
  reliability: "error-handling",
  style: "maintainability",
  readability: "maintainability"
}

/** Returns the name of a category that a model wrote, in one spelling. */
export const canonicalCategory = (category: string): string => {
  const plain = category
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "")
  return Object.hasOwn(synonyms, plain) ? (synonyms[plain] ?? plain) : plain
}
