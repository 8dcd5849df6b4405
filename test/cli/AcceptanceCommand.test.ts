/** `aicr acceptance` prints one line per kind of finding. */
import { expect, it } from "vitest"
import { formatKinds } from "../../src/cli/AcceptanceCommand.ts"

const kind = { category: "testing", severity: "low", model: "p/m", judged: 1, accepted: 0, share: 0.125 } as const

it("kinds of findings are lines", () => {
  const project = { workspace: "app", name: "main:team/app" }
  expect(
    formatKinds({
      ...project,
      floor: 0.2,
      items: [
        { ...kind, folded: true },
        { ...kind, judged: 9, folded: false }
      ]
    })
  ).toEqual([
    "main:team/app in workspace app: folded below 20 %",
    "  folded  low      testing: 0 of 1 finding accepted, an estimated 13 % (p/m)",
    "  shown   low      testing: 0 of 9 findings accepted, an estimated 13 % (p/m)"
  ])
  expect(formatKinds({ ...project, floor: 0, items: [] })).toEqual([
    "main:team/app in workspace app: nothing is folded (review.acceptance_floor is 0)",
    "  no finding was accepted or dismissed by a maintainer yet"
  ])
})
