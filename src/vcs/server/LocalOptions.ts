/** Options of the checkout of a working copy on this machine. */
import type { ProcessLimits } from "../process/ProcessLimits.ts"

export interface LocalOptions {
  /** Folder of private folders; see `makePrivateFolder`. */
  readonly scratch: string
  /** Folder of the working copy. */
  readonly root: string
  readonly limits: () => ProcessLimits
}
