import { expect, it } from "vitest"
import { followFindings } from "../../../src/admin/agents/FollowFindings.ts"
import { TargetKey } from "../../../src/domain/Keys.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import type { ListedFinding } from "../../../src/domain/Publication.ts"
import type { DatedOutcome } from "../../../src/store/Outcomes.ts"
import type { Run } from "../../../src/store/Runs.ts"
import { analysis, change } from "../../store/Fixtures.ts"

const finding = (fingerprint: string): Finding => ({
  fingerprint,
  problem: { file: "a.ts", severity: "high", category: "bug", message: fingerprint }
})

const row = (fp: string, number: number, state: ListedFinding["state"] = "open"): ListedFinding => ({
  fp,
  file: "a.ts",
  severity: "high",
  name: fp,
  place: "a.ts",
  url: `https://git.test/${fp}`,
  number,
  state
})

const outcome = (fingerprint: string, status: DatedOutcome["outcome"]): DatedOutcome => ({
  fingerprint,
  severity: "high",
  category: "bug",
  title: fingerprint,
  path: "a.ts",
  head: "head",
  outcome: status,
  replied: false,
  foundIn: "run",
  foundAt: 1,
  decidedIn: "run",
  decidedAt: 1
})

const reply = (fingerprint: string, head: string, decided: "withdrawn" | "kept"): Run => ({
  id: "reply",
  entryId: "reply",
  workspace: "app",
  targetKey: TargetKey.make("reply"),
  change: change(),
  head,
  status: "succeeded",
  partial: false,
  configHash: "c",
  createdAt: 1,
  analysis: {
    ...analysis,
    findings: [],
    reply: {
      outcome: decided,
      comment: { id: "1", on: "pull_request", kind: "line" },
      question: "",
      text: "",
      fingerprint
    }
  }
})

const review = { head: "h1", analysis: { ...analysis, findings: ["a", "b", "c"].map(finding) } }
type Records = Parameters<typeof followFindings>[1]
const none: Records = { listed: [], outcomes: [], replies: [] }
const shown = (records: Records) =>
  followFindings(review, records).map(({ finding: { fingerprint }, number, state }) => [fingerprint, number, state])

it.each([
  [
    "are numbered in their order without a summary",
    none,
    [
      ["a", 1, "open"],
      ["b", 2, "open"],
      ["c", 3, "open"]
    ]
  ],
  [
    "have the numbers of the summary, and those that it lacks the next ones",
    { ...none, listed: [row("c", 2), row("gone", 7, "fixed")] },
    [
      ["a", 8, "open"],
      ["b", 9, "open"],
      ["c", 2, "open"]
    ]
  ],
  [
    "have the recorded state before that of the summary",
    { ...none, listed: [row("a", 1, "dismissed"), row("b", 2, "open")], outcomes: [outcome("b", "dismissed")] },
    [
      ["a", 1, "dismissed"],
      ["b", 2, "dismissed"],
      ["c", 3, "open"]
    ]
  ],
  [
    "are withdrawn by a reply on this head only",
    { ...none, replies: [reply("a", "h1", "withdrawn"), reply("b", "h0", "withdrawn"), reply("c", "h1", "kept")] },
    [
      ["a", 1, "withdrawn"],
      ["b", 2, "open"],
      ["c", 3, "open"]
    ]
  ]
] as const)("findings %s", (_name, records, expected) => {
  expect(shown(records)).toEqual(expected)
})
