/** The parts of `oidc-provider` that the tests use; the package has no types. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http"

  export class Provider {
    constructor(issuer: string, configuration: object)
    callback(): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>
    interactionFinished(
      incoming: IncomingMessage,
      outgoing: ServerResponse,
      result: object,
      options: object
    ): Promise<void>
  }
}
