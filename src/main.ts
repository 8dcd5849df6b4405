/** `aicr`: joins the commands and decides nothing. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { buildProblems } from "./BuildProblems.ts"
import { configCommand } from "./cli/ConfigCommand.ts"
import { demoCommand } from "./cli/DemoCommand.ts"
import { doctorCommand } from "./cli/DoctorCommand.ts"
import { reportAndExit } from "./cli/Exit.ts"
import { queueCommand } from "./cli/QueueCommand.ts"
import { reviewCommand } from "./cli/ReviewCommand.ts"
import { routeCommand } from "./cli/RouteCommand.ts"
import { serveCommand } from "./cli/ServeCommand.ts"
import { templateCommand } from "./cli/TemplateCommand.ts"
import { reviewLocally, serve } from "./Commands.ts"
import { demo } from "./demo/Demo.ts"
import { routeReport } from "./outputs/RouteReport.ts"
import { renderSample } from "./outputs/SampleRender.ts"
import { onStores } from "./QueueOperations.ts"
import packageJson from "../package.json" with { type: "json" }

const aicr = Command.make("aicr").pipe(
  Command.withDescription(
    "Reviews code changes by itself. Start with `npm run demo`, then write a config.yaml and run `aicr serve`."
  ),
  Command.withSubcommands([
    demoCommand(demo),
    reviewCommand(reviewLocally),
    serveCommand(serve),
    queueCommand(onStores),
    configCommand,
    routeCommand(routeReport),
    templateCommand(renderSample),
    doctorCommand(buildProblems)
  ])
)

Command.run(aicr, { version: packageJson.version }).pipe(
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({ disableErrorReporting: true, teardown: reportAndExit })
)
