/** Options for the start of a node of the service. */
import type { Role } from "../domain/Role.ts"
import type { IngressOptions } from "../ingress/Server.ts"

export interface ServiceOptions {
  readonly roles: ReadonlySet<Role>
  readonly ingress?: IngressOptions
}
