/** An error or a warning about a configuration document: its location, what is wrong, and the next step. */
export interface ConfigIssue {
  readonly severity: "error" | "warning"
  /** Path in the document as the user wrote it, e.g. `triggers[0].webhook_secret_env`. */
  readonly path: string
  readonly message: string
  readonly file?: string | undefined
  /** 1-based position in the file. */
  readonly line?: number | undefined
  readonly column?: number | undefined
}

/** Formats an issue as `file:line:column path: message`, without missing parts. */
export const formatIssue = (issue: ConfigIssue): string => {
  const place = [issue.file, issue.line, issue.column].filter((part) => part !== undefined).join(":")
  const gap = issue.path === "" && issue.line === undefined ? ": " : " "
  return `${place === "" ? "" : `${place}${gap}`}${issue.path === "" ? "" : `${issue.path}: `}${issue.message}`
}
