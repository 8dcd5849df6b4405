/**
 * Comments of the service on a review of Swarm, and their state. Only comments of the configured user with a marker of the same workspace,
 * channel and branch count: other installations and branches of the same changelist write to the same review. Pure.
 *
 * | task      | archived | written by aicr as   | state     |
 * | --------- | -------- | -------------------- | --------- |
 * | any       | any      | resolved             | resolved  |
 * | any       | any      | withdrawn, dismissed | dismissed |
 * | addressed | no       | –                    | resolved  |
 * | verified  | any      | –                    | dismissed |
 * | any       | yes      | –                    | dismissed |
 * | otherwise |          |                      | open      |
 */
import type { Change } from "../../domain/Change.ts"
import type { SwarmComment } from "../../forge/swarm/Client.ts"
import { parseMarkers } from "../Marker.ts"
import type { Marker } from "../Marker.ts"
import { digest } from "../channels/OperationId.ts"
import type { ExistingProblem } from "../review/Reconcile.ts"
import { summaryFp } from "../channels/Scopes.ts"
import { fromSwarmBody } from "./SwarmMarkers.ts"

/** Scope of the comments about one branch of a changelist. A shelf and its submit have the same. */
export const swarmScope = ({ headRef = "", workspace }: Pick<Change, "workspace" | "headRef">, channel: string) =>
  digest("swarm", workspace, channel, headRef).slice(0, 16)

export interface OwnComment extends SwarmComment {
  /** Text with its markers in the form of all other channels. */
  readonly body: string
  readonly markers: ReadonlyArray<Marker>
}

export interface OwnProblem extends ExistingProblem {
  readonly comment: OwnComment
  /** An objection withdrew it. */
  readonly isWithdrawn: boolean
}

/** Returns the state that the service wrote last. */
const readWrittenState = (markers: OwnComment["markers"]): Marker["state"] =>
  markers.findLast(({ state }) => state !== undefined)?.state

export const listOwn = (
  comments: ReadonlyArray<SwarmComment>,
  user: string,
  scope: string
): ReadonlyArray<OwnComment> =>
  comments.flatMap((comment) => {
    if (comment.user.toLowerCase() !== user.toLowerCase()) return []
    const body = fromSwarmBody(comment.body)
    const markers = parseMarkers(body)
    return markers.some((marker) => marker.scope === scope) ? [{ ...comment, body, markers }] : []
  })

/** Returns the newest summary. */
export const findSummary = (own: ReadonlyArray<OwnComment>): OwnComment | undefined =>
  own.findLast(({ markers }) => markers.some(({ fp }) => fp === summaryFp))

const toState = ({ isArchived, markers, taskState }: OwnComment): OwnProblem["state"] => {
  const written = readWrittenState(markers)
  if (written === "resolved") return "resolved"
  if (written === "withdrawn" || written === "dismissed") return "dismissed"
  if (isArchived || taskState === "verified") return "dismissed"
  return taskState === "addressed" ? "resolved" : "open"
}

/** Returns the comments about problems, the newest first. */
export const listProblems = (own: ReadonlyArray<OwnComment>): ReadonlyArray<OwnProblem> =>
  own
    .flatMap((comment): ReadonlyArray<OwnProblem> => {
      const marker = comment.markers.find(({ fp }) => fp !== undefined && fp !== summaryFp)
      return marker?.fp === undefined
        ? []
        : [
            {
              fp: marker.fp,
              files: marker.file === undefined ? [] : [marker.file],
              state: toState(comment),
              comment,
              isWithdrawn: readWrittenState(comment.markers) === "withdrawn"
            }
          ]
    })
    .toReversed()
