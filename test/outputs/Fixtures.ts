/** An analysis with all inputs of the outputs. */
import type { Publication } from "../../src/domain/Publication.ts"
import { inEnglish } from "../../src/text/en.ts"
import { resolve } from "../../src/config/fields/Defaults.ts"
import { Channel, OutputsConfig } from "../../src/config/schema/Outputs.ts"
import { ReviewConfig } from "../../src/config/schema/Review.ts"
import type { Workspace } from "../../src/config/Snapshot.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import type { Change } from "../../src/domain/Change.ts"
import { TargetKey } from "../../src/domain/Keys.ts"
import type { Severity } from "../../src/domain/Kinds.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import type { PublishInput } from "../../src/outputs/channels/Channel.ts"
import { testWorkspace } from "../harness/TestSnapshot.ts"

const head = "a".repeat(40)

export const finding = (
  n: number,
  problem: Partial<Finding["problem"]> & { readonly severity?: Severity } = {},
  anchor: Finding["anchor"] | null = { path: "src/a.ts", side: "new", line: n }
): Finding => ({
  fingerprint: n.toString(16).padStart(32, "0"),
  problem: {
    file: "src/a.ts",
    severity: "medium",
    category: "bug",
    title: `Title ${n}`,
    message: `Message ${n}`,
    ...problem
  },
  ...(anchor === null ? {} : { anchor })
})

export const analysis = (findings: ReadonlyArray<Finding>, more: Partial<Analysis> = {}): Analysis => ({
  findings,
  summary: "What the change does.",
  coverage: { reviewed: ["src/a.ts"], skipped: [{ path: "yarn.lock", reason: "excluded" }], lines: 12 },
  models: ["demo/rules"],
  usage: { requests: 1, inputTokens: 10, outputTokens: 5, cachedTokens: 0 },
  notices: [],
  ...more
})

export const change: Change = {
  provider: "gitea",
  trigger: "host",
  workspace: "shop",
  repo: { fullName: "team/shop", webUrl: "http://forge.test/team/shop" },
  target: { kind: "pull_request", number: 1 },
  head,
  author: { username: "dana" },
  title: "Change lines"
}

export const workspace = (
  outputs: typeof OutputsConfig.Type = {},
  review: typeof ReviewConfig.Type = { output_language: "en" }
): Workspace => ({
  ...testWorkspace(),
  id: "shop",
  outputs: resolve(OutputsConfig, outputs),
  review: resolve(ReviewConfig, review)
})

export const channel = (settings: Partial<typeof Channel.Type> = {}) =>
  resolve(Channel, { name: "gitea_pr_review", kind: "gitea_pr_review", ...settings })

export const input = (findings: ReadonlyArray<Finding>, more: Partial<PublishInput> = {}): PublishInput => ({
  runId: "run-1",
  targetKey: TargetKey.make("host:team/shop:pull_request:1"),
  change,
  head,
  analysis: analysis(findings),
  workspace: workspace(),
  runUrl: undefined,
  ...more
})

/** Returns why a row was not sent, as operators read it. */
export const renderError = (row: Pick<Publication, "error"> | undefined): string | undefined =>
  row?.error === undefined ? undefined : inEnglish(row.error)
