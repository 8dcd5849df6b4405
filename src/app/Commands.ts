/** All commands of `aicr` with their implementations; contains no logic. Wiring only. */
import { join } from "node:path"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Metric } from "effect"
import { CliConfig, Command, GlobalFlag } from "effect/cli"
import { agentCommand } from "../cli/AgentCommand.ts"
import { acceptanceCommand } from "../cli/AcceptanceCommand.ts"
import { catchUpCommand } from "../cli/CatchUpCommand.ts"
import { chatCommand } from "../cli/ChatCommand.ts"
import { configCommand } from "../cli/ConfigCommand.ts"
import { dashboardCommand } from "../cli/DashboardCommand.ts"
import { dbCommand } from "../cli/DbCommand.ts"
import { demoCommand } from "../cli/DemoCommand.ts"
import { doctorCommand } from "../cli/DoctorCommand.ts"
import { evalCommand } from "../cli/EvalCommand.ts"
import { eventsCommand } from "../cli/EventsCommand.ts"
import { endProcess } from "../cli/Exit.ts"
import { hooksCommand } from "../cli/HooksCommand.ts"
import { linkCommand } from "../cli/LinkCommand.ts"
import { logCommand } from "../cli/LogCommand.ts"
import { mcpCommand } from "../cli/McpCommand.ts"
import { rulesCommand } from "../cli/RulesCommand.ts"
import { memoryCommand } from "../cli/MemoryCommand.ts"
import { nodesCommand } from "../cli/NodesCommand.ts"
import { providersCommand } from "../cli/ProvidersCommand.ts"
import { queueCommand } from "../cli/QueueCommand.ts"
import { replayCommand } from "../cli/ReplayCommand.ts"
import { reviewCommand } from "../cli/ReviewCommand.ts"
import { routeCommand } from "../cli/RouteCommand.ts"
import { secretsCommand } from "../cli/SecretsCommand.ts"
import { serveCommand } from "../cli/ServeCommand.ts"
import { setupCommand } from "../cli/SetupCommand.ts"
import { statsCommand } from "../cli/StatsCommand.ts"
import { promptCommand } from "../cli/PromptCommand.ts"
import { templateCommand } from "../cli/TemplateCommand.ts"
import { WarningLimits } from "../observability/LimitedWarnings.ts"
import * as StoredRevisions from "./StoredRevisions.ts"
import * as UsageErrors from "../cli/UsageErrors.ts"
import { forgetCommand } from "../cli/ForgetCommand.ts"
import { tokenCommand } from "../cli/TokenCommand.ts"
import { verifyCommand } from "../cli/VerifyCommand.ts"
import { whyCommand } from "../cli/WhyCommand.ts"
import packageJson from "../../package.json" with { type: "json" }

/**
 * Folder of the caller. `npm run` starts a script in the folder of its package, and names the caller's folder in INIT_CWD: paths in arguments
 * are relative to that one. Only for this package's own scripts: a script of another package runs in a folder that its author chose.
 *
 * Returns the folder to change to; undefined to stay. `root` is the folder of this package.
 */
export const findCallerFolder = (
  env: Readonly<Record<string, string | undefined>>,
  root: string
): string | undefined => {
  const { INIT_CWD: caller, npm_package_json: manifest } = env
  return caller !== undefined && caller !== "" && manifest === `${root}/package.json` ? caller : undefined
}

/** Loads the module of a command when the command runs, so that help and the other commands do not wait for it. */
const load = Effect.promise

/** All commands. */
export const aicr = Command.make("aicr").pipe(
  Command.withDescription(
    "Reviews code changes with a language model. Watch it with `aicr demo`, review your own repository with `aicr review`. To run the service, write a config.yaml (see config.example.yaml and docs/configuration.md), check it with `aicr config check` and `aicr doctor`, and start `aicr serve`."
  ),
  Command.withExamples([
    { command: "aicr demo", description: "A whole review on this machine, without any configuration" },
    { command: "aicr review --base main", description: "This repository, with the model of a key in the environment" },
    { command: "aicr config check config.yaml", description: "Everything that is wrong with a configuration, by line" },
    { command: "aicr serve --config config.yaml", description: "The service" }
  ]),
  Command.withSubcommands([
    {
      group: "START",
      commands: [
        demoCommand(load(() => import("../../demo/Demo.ts"))),
        reviewCommand(load(() => import("./ReviewLocally.ts"))),
        doctorCommand(load(() => import("./Doctor.ts"))),
        serveCommand(load(() => import("./Serve.ts"))),
        mcpCommand(load(() => import("./McpBridge.ts")))
      ]
    },
    {
      group: "OPERATE",
      commands: [
        whyCommand(load(() => import("./AdminAccess.ts"))),
        queueCommand(load(() => import("./AdminAccess.ts"))),
        eventsCommand(load(() => import("./AdminAccess.ts"))),
        acceptanceCommand(load(() => import("./AdminAccess.ts"))),
        catchUpCommand(load(() => import("./AdminAccess.ts"))),
        setupCommand(load(() => import("./AdminAccess.ts"))),
        linkCommand(load(() => import("./AdminAccess.ts"))),
        logCommand(load(() => import("./AdminAccess.ts"))),
        statsCommand(load(() => import("./AdminAccess.ts"))),
        dashboardCommand(load(() => import("./AdminAccess.ts"))),
        tokenCommand(load(() => import("./AdminAccess.ts"))),
        forgetCommand(load(() => import("./AdminAccess.ts"))),
        nodesCommand(load(() => import("./NodeList.ts"))),
        providersCommand(load(() => import("./AdminAccess.ts"))),
        dbCommand(
          load(() => import("./DatabaseMigrations.ts")),
          load(() => import("./DatabaseBackups.ts"))
        )
      ]
    },
    {
      group: "CONFIGURE",
      commands: [
        configCommand(
          load(() => import("./BuildProblems.ts")),
          load(() => import("./EditorAccess.ts"))
        ),
        secretsCommand(load(() => import("./EditorAccess.ts"))),
        routeCommand(load(() => import("../outputs/channels/RouteReport.ts"))),
        promptCommand,
        templateCommand(load(() => import("../outputs/SampleRender.ts"))),
        hooksCommand,
        agentCommand(load(() => import("./AgentSetup.ts"))),
        chatCommand(load(() => import("./ChatSetup.ts")))
      ]
    },
    {
      group: "EVALUATE",
      commands: [
        evalCommand(load(() => import("./Evaluate.ts"))),
        replayCommand(load(() => import("./Replay.ts"))),
        memoryCommand(load(() => import("./OpenRecords.ts"))),
        rulesCommand(
          load(() => import("./Evaluate.ts")),
          load(() => import("./OpenRecords.ts"))
        ),
        verifyCommand
      ]
    }
  ])
)

/** Levels of logs are SVC_LOG_LEVEL's. */
export const cliConfig = CliConfig.layer({
  builtIns: GlobalFlag.BuiltIns.filter((flag) => flag !== GlobalFlag.LogLevel)
})

/** Runs the command in the arguments of the process, in the folder of the caller, and ends the process with its exit code. */
export const main = (): void => {
  const caller = findCallerFolder(process.env, join(import.meta.dirname, "../.."))
  if (caller !== undefined) process.chdir(caller)
  Command.run(aicr, { version: packageJson.version }).pipe(
    Effect.provide([NodeServices.layer, cliConfig, StoredRevisions.layer, UsageErrors.layer]),
    // State of this run of the program, not of the process.
    Effect.provideService(Metric.MetricRegistry, new Map()),
    Effect.provideService(WarningLimits, new Map()),
    NodeRuntime.runMain({ disableErrorReporting: true, teardown: endProcess })
  )
}
