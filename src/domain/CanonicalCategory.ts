/** Categories of findings, under one name each. Pure. */

/** Categories that the prompt names. */
export const categories = [
  "correctness",
  "security",
  "concurrency",
  "performance",
  "resource-leak",
  "error-handling",
  "api-contract",
  "data-loss",
  "testing",
  "maintainability"
] as const

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

/** Returns the category as the label of a metric: one of few, because a model may write any text. */
export const categoryLabel = (category: string): string => {
  const name = canonicalCategory(category)
  return categories.find((one) => one === name) ?? "other"
}
