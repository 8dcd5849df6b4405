import { expect, it } from "vitest"
import { acceptedShare, isMuted, ruleState } from "../../src/domain/RuleHealth.ts"

it.each([
  ["high", 0.3, 10, 2, "d", true],
  ["high", 0.3, 10, 3, "d", false],
  ["high", 0.3, 9, 0, "d", false],
  ["high", undefined, 100, 0, "d", false],
  ["critical", 0.9, 100, 0, "d", false],
  ["info", 1, 100, 99, "d", true],
  ["info", 0, 100, 0, "d", false],
  // Another content of the file is counted from the beginning.
  ["high", 0.3, 10, 2, "other", false]
] as const)(
  "severity %s, floor %s, judged %s, accepted %s, digest %s: muted %s",
  (severity, floor, judged, judgedAccepted, digest, expected) => {
    const rule = { digest: "d", severity, ...(floor === undefined ? {} : { floor }) }
    expect(isMuted(rule, { digest, judged, judgedAccepted })).toBe(expected)
  }
)

it("a rule without health is not muted", () => {
  expect(isMuted({ digest: "d", severity: "high", floor: 1 }, undefined)).toBe(false)
})

it("the share needs ten findings", () => {
  expect(acceptedShare({ judged: 9, judgedAccepted: 9 })).toBeUndefined()
  expect(acceptedShare({ judged: 10, judgedAccepted: 4 })).toBe(0.4)
})

it("a rule is silent without findings, and muted before all", () => {
  expect(ruleState({ findings: 0 })).toBe("silent")
  expect(ruleState({ findings: 1 })).toBe("active")
  expect(ruleState({ findings: 1, mutedAt: 5 })).toBe("muted")
})
