/** Digest of an issue's text; stands where a review has its head, so that text that was judged is known again. Pure. */
import { createHash } from "node:crypto"
import type { ReadIssue } from "./HostIssues.ts"

export const issueHead = ({ title, body }: Pick<ReadIssue, "title" | "body">): string =>
  createHash("sha1")
    .update(JSON.stringify([title, body]))
    .digest("hex")
