/** The service without the second between writes: the host here is our own (WriteGap). */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Duration, Effect, Layer } from "effect"
import { parseRoles } from "../../../src/cli/Roles.ts"
import { layerFile } from "../../../src/config/snapshots/FileConfigStore.ts"
import { WriteGap } from "../../../src/forge/Pacing.ts"
import * as Logging from "../../../src/observability/logs/Logging.ts"
import { Progress } from "../../../src/observability/Progress.ts"
import * as Service from "../../../src/app/Service.ts"

const [config = ""] = process.argv.slice(2)

Effect.fromResult(parseRoles("all")).pipe(
  Effect.flatMap((roles) =>
    Layer.launch(
      Service.layer({ roles }).pipe(
        Layer.provide(layerFile(config, process.env)),
        Layer.provide(Progress.layer),
        Layer.provide(Layer.succeed(WriteGap, Duration.zero)),
        Layer.provide(Logging.layerWith({ level: "warn", pretty: false }))
      )
    )
  ),
  NodeRuntime.runMain
)
