/** Texts that the service has at a host. */
import type { Reason } from "../domain/Reason.ts"

export interface HostWrite {
  readonly hostId: string
  readonly url: string | undefined
  /** Reason for which the host has it in another form than planned. */
  readonly note?: Reason | undefined
}

/** Text that the service wrote on a pull request. */
export interface OwnText extends HostWrite {
  readonly body: string
}
