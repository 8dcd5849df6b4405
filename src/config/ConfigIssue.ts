/** One thing wrong, or worth saying, about a configuration document: where it is, what is wrong, what to do. */
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

/** `file:line:column path: message`, leaving out what is not known. */
export const formatIssue = (issue: ConfigIssue): string => {
  const place = [issue.file, issue.line, issue.column].filter((part) => part !== undefined).join(":")
  const gap = issue.path === "" && issue.line === undefined ? ": " : " "
  return `${place === "" ? "" : `${place}${gap}`}${issue.path === "" ? "" : `${issue.path}: `}${issue.message}`
}
