/** Links to records, and the parts of rows that several lists share. */
import { Link } from "@tanstack/react-router"
import type { Reason } from "../../domain/Reason.ts"
import { useApi } from "../client/Queries.ts"
import { shortCommit } from "../text/Format.ts"
import { t, tMaybe, tReason } from "../text/T.ts"
import { shownOutcome, whyNothing } from "./DeliveryTexts.ts"
import type { DeliveryState } from "./DeliveryTexts.ts"
import { toneOf, Status } from "./Status.tsx"

interface ChangeFields {
  readonly repo?: string | undefined
  readonly number?: number | undefined
  readonly branch?: string | undefined
  readonly head?: string | undefined
}

/** The name of a change: `owner/name#5`, or the branch of a push. */
export const changeName = ({ branch, head, number, repo }: ChangeFields): string => {
  const place = number === undefined ? (branch ?? shortCommit(head)) : undefined
  return `${repo ?? t("record.none")}${number === undefined ? "" : `#${number}`}${place === undefined || place === "" ? "" : ` ${place}`}`
}

export const ChangeLink = ({ change }: { readonly change: ChangeFields }) =>
  change.repo === undefined || change.number === undefined ? (
    <span>{changeName(change)}</span>
  ) : (
    <Link to="/change" search={{ repo: change.repo, number: String(change.number) }}>
      {changeName(change)}
    </Link>
  )

export const RunLink = ({ id }: { readonly id: string | undefined }) =>
  id === undefined ? null : (
    <Link to="/runs/$id" params={{ id }}>
      {t("record.run")}
    </Link>
  )

export const Commit = ({ id }: { readonly id: string | undefined }) =>
  id === undefined ? null : <code title={id}>{shortCommit(id)}</code>

interface RunFields {
  readonly status: string
  readonly partial: boolean
  readonly reason?: Reason | undefined
}

/** A run that read or published only a part is marked in its status. */
export const RunStatus = ({ partial, reason, status }: RunFields) => {
  const title = reason && tReason(reason)
  return partial && status === "succeeded" ? (
    <Status group="run" value="partial" title={title} />
  ) : (
    <Status group="run" value={status} tone={toneOf(status)} title={title} />
  )
}

/** The decision about a delivery, or what became of it. */
export const DeliveryStatus = ({ delivery }: { readonly delivery: DeliveryState }) => {
  const { decision, outcome, reason } = delivery
  if (reason !== undefined && (decision === "ignored" || decision === "rejected"))
    return (
      <Status
        group="reason"
        value={reason}
        tone={decision === "ignored" ? "quiet" : "bad"}
        title={tMaybe("why", whyNothing(delivery))}
      />
    )
  if (outcome !== undefined) return <Status group="outcome" value={shownOutcome(delivery)} tone={toneOf(outcome)} />
  return <Status group="decision" value={decision} />
}

/** Options of a filter by workspace or trigger, from the configuration. */
const useNames = (source: string): ReadonlyArray<readonly [string, string]> => {
  const names = useApi("GET /config/options/:source", { params: { source } })
  return (names.data?.items ?? []).map((name) => [name, name])
}
export const useWorkspaceOptions = () => useNames("workspaces")
export const useTriggerOptions = () => useNames("triggers")
