/** Implements `aicr serve`. The service is a parameter, so that the command line depends on no adapter. */
import { Effect, Option, Result } from "effect"
import { Command, Flag } from "effect/cli"
import { ExitWith } from "./Exit.ts"
import { parseRoles } from "./Roles.ts"
import type { Role } from "../domain/Role.ts"
import { configFlagAbout } from "./ConfigFlag.ts"

export interface ServeOptions {
  readonly config: string
  readonly roles: ReadonlySet<Role>
}

export const serveCommand = <R>(
  runs: Effect.Effect<{ readonly serve: (options: ServeOptions) => Effect.Effect<void, ExitWith, R> }>
) =>
  Command.make(
    "serve",
    {
      config: configFlagAbout(". See docs/configuration.md and `aicr config check`"),
      roles: Flag.String("roles").pipe(
        Flag.withDescription("What this node does: all, or a comma-separated list of roles (SVC_ROLES when not given)"),
        Flag.optional
      )
    },
    Effect.fnUntraced(function* ({ config, roles }) {
      const named = Option.getOrElse(roles, () => process.env["SVC_ROLES"] ?? "all")
      const parsed = parseRoles(named)
      if (Result.isFailure(parsed)) return yield* new ExitWith({ code: 2, message: parsed.failure })
      const { serve } = yield* runs
      return yield* serve({ config, roles: parsed.success })
    })
  ).pipe(
    Command.withDescription("Run the service: receive webhooks, review changes, publish findings"),
    Command.withExamples([
      { command: "aicr serve --config config.yaml", description: "Everything on this node" },
      {
        command: "aicr serve --roles ingress",
        description: "Only receive and store deliveries; other nodes or a later start review them"
      }
    ])
  )
