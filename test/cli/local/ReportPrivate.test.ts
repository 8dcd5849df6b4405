/** The output of `aicr review` about a finding that only maintainers get. */
import { expect, it } from "vitest"
import { listFailures } from "../../../src/cli/ReviewCommand.ts"
import { renderJson } from "../../../src/cli/local/Json.ts"
import { renderMarkdown } from "../../../src/cli/local/Markdown.ts"
import { renderSarif } from "../../../src/cli/local/Sarif.ts"
import { renderText } from "../../../src/cli/local/Text.ts"
import type { LocalReview } from "../../../src/cli/local/Report.ts"
import { separatePrivate } from "../../../src/review/PrivateFindings.ts"
import { analysis, finding } from "../../outputs/Fixtures.ts"

const formats = { text: (review: LocalReview) => renderText(review, false), renderJson, renderMarkdown, renderSarif }
const secret = finding(3, {
  severity: "critical",
  category: "security",
  title: "Leaky session",
  message: "In plain text"
})
const range = { vcs: "git", root: "/r", baseName: "main", from: "a", head: "b", headName: "b" } as const

it.each(Object.entries(formats))("%s has its number, and nothing that it is about", (_, render) => {
  const all = analysis([secret, finding(5)], { summary: "About the session." })
  const found = separatePrivate(all, ({ fingerprint }) => fingerprint === secret.fingerprint, "k")
  const printed = render({ ...range, analysis: found })
  expect(printed).toContain("1 problem for maintainers only")
  expect(printed).not.toMatch(/was delivered|session|plain text/i)
  expect(printed).toContain("Title 5")
  expect(listFailures({ analysis: found }, "critical", false)).toEqual([
    "1 problem of severity critical or above (--fail-on critical)"
  ])
})
