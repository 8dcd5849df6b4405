/** The file and the environment that documents of the database are combined with. */
import type { Tree } from "../checks/Tree.ts"
import type { Env } from "../Credentials.ts"
import type { Origin, Reading } from "../snapshots/Snapshots.ts"
import { readDocument } from "../snapshots/Snapshots.ts"
import type { DatabaseDocument } from "./DatabaseDocument.ts"
import { overlay } from "./Overlay.ts"

export interface FileBaseline {
  /** The normalised file. */
  readonly file: Tree
  readonly env: Env
  readonly baseDir: string
  readonly namespace: string
  /** Name and positions of the file, for messages. */
  readonly source?: Pick<Origin, "file" | "locate"> | undefined
}

/** Reads the combined configuration, as a node that activates the document does. */
export const readCombined = (
  document: DatabaseDocument,
  { file, env, baseDir }: FileBaseline,
  origin: Omit<Origin, "baseDir"> = {}
): Reading => readDocument(overlay(file, document).tree, env, { ...origin, baseDir })
