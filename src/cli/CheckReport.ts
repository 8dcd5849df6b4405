/** Formats the output of `aicr config check`: text for people, JSON for programs, SARIF for code hosts and editors. Pure. */
import type { ConfigIssue } from "../config/ConfigIssue.ts"
import { formatIssue } from "../config/ConfigIssue.ts"
import { count } from "./Wording.ts"
import { inEnglish } from "../text/en.ts"

export interface CheckedFile {
  readonly file: string
  /** The file, with the revision of its database if that was read. */
  readonly source: string
  /** Number of that revision. */
  readonly revision: number | undefined
  /** Undefined if the file is refused. */
  readonly workspaces: number | undefined
  readonly issues: ReadonlyArray<ConfigIssue>
}

export const checkFormats = ["text", "json", "sarif"] as const

const of = (issues: ReadonlyArray<ConfigIssue>, wanted: ConfigIssue["severity"]) =>
  issues.filter(({ severity }) => severity === wanted)

/** Formats the line about a file, and its issues. */
export const textReport = ({ source, workspaces, issues }: CheckedFile) => {
  const [errors, warnings] = [of(issues, "error"), of(issues, "warning")]
  const warned = warnings.length === 0 ? "" : `, ${count(warnings.length, "warning")}`
  return {
    summary:
      workspaces === undefined
        ? `${source}: ${count(errors.length, "error")}${warned}`
        : `${source}: valid, ${count(workspaces, "workspace")}${warned}`,
    details: [...errors.map(formatIssue), ...warnings.map((issue) => `warning: ${formatIssue(issue)}`)]
  }
}

export const jsonReport = (files: ReadonlyArray<CheckedFile>): string =>
  JSON.stringify(
    files.map(({ file, revision, workspaces, issues }) => ({
      file,
      revision,
      valid: workspaces !== undefined,
      issues: issues.map(({ severity, path, reason, line, column }) => ({
        severity,
        path,
        message: inEnglish(reason),
        line,
        column
      }))
    })),
    undefined,
    2
  )

const sarifResult = (file: string, { severity, path, reason, line, column }: ConfigIssue) => ({
  ruleId: "configuration",
  level: severity,
  message: { text: path === "" ? inEnglish(reason) : `${path}: ${inEnglish(reason)}` },
  locations: [
    {
      physicalLocation: {
        artifactLocation: { uri: encodeURI(file) },
        ...(line === undefined ? {} : { region: { startLine: line, startColumn: column ?? 1 } })
      }
    }
  ]
})

export const sarifReport = (files: ReadonlyArray<CheckedFile>): string =>
  JSON.stringify(
    {
      $schema: "https://json.schemastore.org/sarif-2.1.0.json",
      version: "2.1.0",
      runs: [
        {
          tool: {
            driver: {
              name: "aicr config check",
              rules: [{ id: "configuration", shortDescription: { text: "A configuration document of aicr" } }]
            }
          },
          results: files.flatMap(({ file, issues }) => issues.map((issue) => sarifResult(file, issue)))
        }
      ]
    },
    undefined,
    2
  )
