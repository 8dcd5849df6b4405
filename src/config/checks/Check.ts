/** A rule across fields of the normalised tree, and where it reports. */
import type { Env } from "../Credentials.ts"
import type { Report } from "../document/Normalise.ts"

export interface CrossCheckReports {
  readonly error: Report
  readonly warning: Report
}

export type Check = (tree: unknown, reports: CrossCheckReports, env: Env) => void
