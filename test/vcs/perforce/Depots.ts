/** Depots of the suites of Perforce: the fake one, and a real p4d where the variable `P4D` names one. */
import { Redacted } from "effect"
import { makeFakeDepot, p4Password, p4User } from "../../harness/perforce/PerforceDepot.ts"
import type { PerforceDepot } from "../../harness/perforce/PerforceDepot.ts"
import { makeRealDepot } from "../../harness/perforce/RealPerforce.ts"
import type { PerforceServer } from "../../../src/vcs/server/VcsServer.ts"

export const p4d = process.env["P4D"]

export const fakeDepot = async (): Promise<PerforceDepot> => makeFakeDepot()
export const realDepot = (): Promise<PerforceDepot> => makeRealDepot(p4d ?? "")

export const depotServer = (depot: PerforceDepot, over: Partial<PerforceServer> = {}): PerforceServer => ({
  vcs: "perforce",
  port: depot.port,
  user: p4User,
  ticket: undefined,
  password: Redacted.make(p4Password),
  client: undefined,
  fingerprint: undefined,
  program: depot.program,
  ...over
})
