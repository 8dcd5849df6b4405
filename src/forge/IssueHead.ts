/**
 * Returns a digest of an issue's text. It takes the role of the head commit in a triage run, so that unchanged text is
 * recognised. Pure.
 */
import { createHash } from "node:crypto"
import type { ReadIssue } from "./hosts/HostIssues.ts"

export const digestIssue = ({ title, body }: Pick<ReadIssue, "title" | "body">): string =>
  createHash("sha1")
    .update(JSON.stringify([title, body]))
    .digest("hex")
