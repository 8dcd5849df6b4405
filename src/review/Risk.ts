/** Ranks files by the order in which they are read when a change does not fit one pass: 0 is the most urgent. Pure. */
import type { FileDiff } from "./FileDiff.ts"
import { detectLanguage } from "./Languages.ts"

const sensitive =
  /(auth|login|session|token|secret|crypt|passw|permission|access|acl|payment|billing|migrat|security|sandbox|deserial|upload|sql)/i
const tests =
  /(^|\/)(tests?|specs?|__tests__|fixtures?|testdata|examples?|mocks?)\/|[._-](test|spec)\.\w+$|(^|\/)test_[^/]+$|_test\.\w+$/i
const prose = new Set(["Markdown", "HTML", "CSS", "SCSS", "Less", "JSON", "XML"])

export type RiskTier = 0 | 1 | 2 | 3

export const riskTier = (file: Pick<FileDiff, "path">): RiskTier => {
  const language = detectLanguage(file.path)
  if (tests.test(file.path)) return 2
  if (language === undefined || prose.has(language)) return 3
  return sensitive.test(file.path) ? 0 : 1
}

/** Returns whether a file is one of tests. */
export const isTest = (path: string): boolean => tests.test(path)
