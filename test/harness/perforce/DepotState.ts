/** State of the fake p4: a small depot, its users, and rules that disturb commands. One JSON file. */
import { readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface StoredRevision {
  readonly rev: number
  readonly change: number
  readonly action: string
  readonly type: string
  /** Base64. */
  readonly content: string
  /** Size that the server lists, for contents that are too large for a test. */
  readonly bytes?: number | undefined
  readonly integration?: { readonly how: string; readonly file: string; readonly erev: number } | undefined
}

export interface ShelvedFile {
  readonly depotFile: string
  readonly action: string
  readonly type: string
  readonly rev: number | undefined
  readonly content: string
}

export interface StoredChange {
  readonly change: number
  readonly user: string
  readonly client: string
  readonly desc: string
  readonly time: number
  readonly status: "submitted" | "pending"
  /** Number before its submit, if that was another one. */
  readonly oldChange?: number
  readonly shelf: ReadonlyArray<ShelvedFile>
}

/** Disturbs commands: `hang` never ends, `collapse` prints text in JSON, `garbage` prints no JSON, `refused` is an error of the server, `huge` lists 200,000 files, `outside` names a file above the workspace. */
export interface Disturbance {
  readonly command: string
  readonly how: "hang" | "collapse" | "garbage" | "refused" | "huge" | "outside"
}

export interface DepotState {
  unicode: boolean
  insensitive: boolean
  /** Clients before JSON output, and clients with `print -K`. */
  oldClient: boolean
  newClient: boolean
  user: string
  password: string
  /** Valid tickets. */
  tickets: Array<string>
  /** Fingerprint of the server's key, if it speaks TLS. */
  fingerprint: string | undefined
  depots: Array<{ readonly name: string; readonly type: string; readonly depth: number }>
  changes: Array<StoredChange>
  files: Record<string, Array<StoredRevision>>
  disturb: Array<Disturbance>
  /** Files that are listed and whose contents the server has lost. */
  lost: ReadonlyArray<string>
  /** Client workspaces. `synced`: changelist of their files; undefined: the newest. */
  clients: Record<
    string,
    { readonly root: string; readonly view: Readonly<Record<string, string>>; readonly synced?: number }
  >
  opened: Array<{
    readonly client: string
    readonly depotFile: string
    readonly action: string
    readonly type: string
    readonly rev: number
  }>
}

const fileOf = (folder: string): string => join(folder, "state.json")

export const readState = (folder: string): DepotState => JSON.parse(readFileSync(fileOf(folder), "utf8"))

export const writeState = (folder: string, state: DepotState): void => {
  writeFileSync(`${fileOf(folder)}.new`, JSON.stringify(state))
  renameSync(`${fileOf(folder)}.new`, fileOf(folder))
}
