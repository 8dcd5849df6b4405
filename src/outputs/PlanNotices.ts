/** Plans the notices about a fact: one for each channel that `outputs.notifications` names for its kind. Pure, except for the ids. */
import type { OutputsConfig } from "../config/schema/Outputs.ts"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import { newId } from "../domain/Ids.ts"
import type { NewNotice, NoticeFacts, NoticeKind } from "../domain/Notice.ts"
import { noticeKey } from "./chat/NoticeKinds.ts"

/** Returns the positions of the routes that match a kind of notices. */
export const noticeRoutes = ({ notifications }: OutputsConfig, kind: NoticeKind): ReadonlyArray<number> =>
  notifications.routes.flatMap(({ kinds }, index) => (kinds === undefined || kinds.includes(kind) ? [index] : []))

/** Returns the names of the channels that receive notices of a kind, each once: those of all matching routes. */
export const noticeChannels = (outputs: OutputsConfig, kind: NoticeKind): ReadonlyArray<string> => [
  ...new Set(noticeRoutes(outputs, kind).flatMap((index) => outputs.notifications.routes[index]?.channels ?? []))
]

type Layers = Pick<Snapshot, "document" | "workspaces">

/** Returns the outputs that apply to a notice: those of its workspace, or the global ones. */
export const noticeOutputs = (
  snapshot: { readonly document: { readonly outputs: OutputsConfig } } & {
    readonly workspaces: ReadonlyMap<string, Pick<Workspace, "outputs">>
  },
  facts: NoticeFacts
): OutputsConfig =>
  ("workspace" in facts ? snapshot.workspaces.get(facts.workspace)?.outputs : undefined) ?? snapshot.document.outputs

/** Returns whether any notice of this kind would be sent. */
export const hasNoticeRoute = ({ document, workspaces }: Layers, kind: NoticeKind): boolean =>
  noticeChannels(document.outputs, kind).length > 0 ||
  [...workspaces.values()].some(({ outputs }) => noticeChannels(outputs, kind).length > 0)

/** Returns whether there is any route of notices. */
export const hasNoticeRoutes = ({ document, workspaces }: Layers): boolean =>
  document.outputs.notifications.routes.length > 0 ||
  [...workspaces.values()].some(({ outputs }) => outputs.notifications.routes.length > 0)

/** `except`: channels that are notified otherwise. */
export const planNotices = (
  snapshot: Layers,
  facts: NoticeFacts,
  except: ReadonlySet<string> = new Set()
): ReadonlyArray<NewNotice> =>
  noticeChannels(noticeOutputs(snapshot, facts), facts._tag)
    .filter((channel) => !except.has(channel))
    .map((channel) => ({ id: newId(), key: noticeKey(facts), channel, facts }))
