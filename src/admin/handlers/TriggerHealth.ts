/** Describes the set-up of triggers: which of their credentials are set, which workspaces name them. Never their values. Pure. */
import type { Snapshot, TriggerProfile, Workspace } from "../../config/Snapshot.ts"
import { isForgeKind } from "../../domain/Kinds.ts"
import type { TriggerKind } from "../../domain/Kinds.ts"

type CredentialState = "set" | "missing" | "not_used"

export interface TriggerSetup {
  readonly name: string
  readonly kind: TriggerKind
  readonly enabled: boolean
  readonly path: string | undefined
  readonly baseUrl: string | undefined
  readonly workspaces: number
  readonly secret: CredentialState
  readonly token: CredentialState
}

const callPaths: Partial<Record<TriggerKind, string>> = {
  perforce: "/triggers/p4",
  subversion: "/triggers/svn",
  manual: "/triggers/manual"
}

const state = (isSet: boolean): CredentialState => (isSet ? "set" : "missing")

/** Returns whether any caller of `/triggers/*` can authenticate. */
const hasApiKey = ({ credential, document, workspaces }: Snapshot): boolean =>
  [document.server.auth, ...[...workspaces.values()].map(({ instance }) => instance.auth)].some(
    (holder) => holder.enabled && credential(holder, "api_key") !== undefined
  )

const secretOf = (snapshot: Snapshot, { kind, webhookSecret }: TriggerProfile): CredentialState => {
  if (isForgeKind(kind)) return state(webhookSecret !== undefined)
  return callPaths[kind] === undefined ? "not_used" : state(hasApiKey(snapshot))
}

const tokenOf = ({ credential }: Snapshot, { kind, settings, token }: TriggerProfile): CredentialState => {
  if (isForgeKind(kind)) return state(token !== undefined || settings.app !== undefined)
  if (kind !== "perforce" && kind !== "subversion") return "not_used"
  const names = kind === "perforce" ? ["ticket", "password"] : ["password"]
  return state(names.some((name) => credential(settings, name) !== undefined))
}

/** A rule that names no trigger matches those of every trigger. */
const names = ({ instance }: Workspace, trigger: string): boolean =>
  instance.source_repo?.trigger === trigger ||
  (instance.match ?? []).some(({ triggers }) => triggers === undefined || triggers.includes(trigger))

/** Returns the set-up of every trigger, by name. `prefix` is `server.path_prefix`, normalised. */
export const listSetups = (snapshot: Snapshot, prefix: string): ReadonlyArray<TriggerSetup> => {
  const workspaces = [...snapshot.workspaces.values()]
  return [...snapshot.triggers.values()]
    .map((trigger) => {
      const { baseUrl, enabled, kind, name } = trigger
      const path = isForgeKind(kind) ? `/webhooks/${kind}` : callPaths[kind]
      return {
        name,
        kind,
        enabled,
        path: path === undefined ? undefined : `${prefix}${path}`,
        baseUrl,
        workspaces: workspaces.filter((workspace) => names(workspace, name)).length,
        secret: secretOf(snapshot, trigger),
        token: tokenOf(snapshot, trigger)
      }
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
}
