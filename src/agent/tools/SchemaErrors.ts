/** Describes what is wrong with the input of a call, for the model that is to correct it. */
import { SchemaIssue } from "effect"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** Names at most five fields with their errors. */
export const describeIssues = (issue: SchemaIssue.Issue): string =>
  format(issue)
    .issues.slice(0, 5)
    .map(({ path = [], message }) => {
      const at = path.map((part) => String(typeof part === "object" ? part.key : part))
      return `${at.length === 0 ? "input" : at.join(".")}: ${message.slice(0, 200)}`
    })
    .join("; ")
