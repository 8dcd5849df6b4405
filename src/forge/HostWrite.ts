/** Texts that the service has at a host. */

export interface HostWrite {
  readonly hostId: string
  readonly url: string | undefined
}

/** Text that the service wrote on a pull request. */
export interface OwnText extends HostWrite {
  readonly body: string
}
