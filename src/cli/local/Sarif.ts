/** Formats SARIF 2.1.0 for code scanning services. Fingerprints identify a finding across runs. */
import { severityRank } from "../../domain/Kinds.ts"
import type { Severity } from "../../domain/Kinds.ts"
import type { Finding } from "../../domain/Problem.ts"
import { formatNotices, formatTitle } from "./Report.ts"
import type { LocalReview } from "./Report.ts"
import packageJson from "../../../package.json" with { type: "json" }

const levels = {
  critical: "error",
  high: "error",
  medium: "warning",
  low: "note",
  info: "note"
} as const satisfies Record<Severity, string>

/** GitHub's code scanning sorts by this number. */
const scores = { critical: "9.5", high: "8.0", medium: "5.5", low: "3.0", info: "1.0" } as const satisfies Record<
  Severity,
  string
>

export const renderSarif = (review: LocalReview): string => {
  const { coverage, findings } = review.analysis
  // Otherwise a list without the lost results would look complete.
  const isComplete = coverage.unusable === undefined
  const level = isComplete ? "note" : "warning"
  const ids = [...new Set(findings.map(({ problem }) => problem.category))]
  const rules = ids.map((id) => ruleOf(id, findings))
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "aicr",
            version: packageJson.version,
            semanticVersion: packageJson.version,
            rules
          }
        },
        columnKind: "utf16CodeUnits",
        invocations: [
          {
            executionSuccessful: isComplete,
            toolExecutionNotifications: formatNotices(review.analysis).map((text) => ({ level, message: { text } }))
          }
        ],
        properties: { base: review.from, head: review.head },
        results: findings.map((finding) => resultOf(finding, ids))
      }
    ]
  }
  return `${JSON.stringify(log, undefined, 2)}\n`
}

/** Returns the rule of a category. Code scanning services sort rules by their highest severity. */
const ruleOf = (category: string, findings: ReadonlyArray<Finding>) => {
  const own = findings.filter(({ problem }) => problem.category === category)
  const [first, ...others] = own.map(({ problem }) => problem.severity)
  const highest = others.reduce(
    (so, severity) => (severityRank(severity) > severityRank(so) ? severity : so),
    first ?? "info"
  )
  const text = `Problems of the category ${category}, found by a language model. Each result explains what is wrong and why. Check it before you act on it.`
  return {
    id: category,
    name: category,
    shortDescription: { text: category },
    fullDescription: { text },
    help: { text },
    defaultConfiguration: { level: levels[highest] },
    properties: { tags: ["code-review", category], "security-severity": scores[highest] }
  }
}

const resultOf = (finding: Finding, ids: ReadonlyArray<string>) => {
  const { anchor, fingerprint, problem } = finding
  const uri = (anchor?.path ?? problem.file).split("/").map(encodeURIComponent).join("/")
  // Removed lines no longer exist in the file: such a result only names the file.
  const region = anchor?.side === "new" ? { startLine: anchor.start ?? anchor.line, endLine: anchor.line } : undefined
  const artifactLocation = { uri }
  return {
    ruleId: problem.category,
    ruleIndex: ids.indexOf(problem.category),
    level: levels[problem.severity],
    message: { text: problem.title === undefined ? problem.message : `${formatTitle(finding)}\n\n${problem.message}` },
    locations: [{ physicalLocation: { artifactLocation, ...(region === undefined ? {} : { region }) } }],
    partialFingerprints: { "aicr/v1": fingerprint },
    ...(problem.suggestion === undefined || region === undefined
      ? {}
      : {
          fixes: [
            {
              description: { text: "Suggested replacement" },
              artifactChanges: [
                {
                  artifactLocation,
                  replacements: [{ deletedRegion: region, insertedContent: { text: problem.suggestion } }]
                }
              ]
            }
          ]
        }),
    properties: {
      severity: problem.severity,
      "security-severity": scores[problem.severity],
      ...(problem.confidence === undefined ? {} : { confidence: problem.confidence })
    }
  }
}
