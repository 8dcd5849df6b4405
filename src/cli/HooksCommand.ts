/** Implements `aicr hooks print`: prints how to install the hook scripts of Perforce and Subversion. */
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { configFlag, fileOnlyFlag } from "./ConfigFlag.ts"
import { refused } from "./Exit.ts"
import { listServers, perforceHooks, subversionHooks } from "./HookText.ts"
import { readSnapshot } from "./ReadSnapshot.ts"

const kinds = {
  p4: { kind: "perforce", text: perforceHooks },
  svn: { kind: "subversion", text: subversionHooks }
} as const

const print = Command.make(
  "print",
  {
    system: Argument.Literals("SYSTEM", ["p4", "svn"] as const).pipe(Argument.withDescription("p4 or svn")),
    config: configFlag,
    fileOnly: fileOnlyFlag,
    folder: Flag.String("folder").pipe(
      Flag.withMetavar("PATH"),
      Flag.withDescription("Folder of the scripts on the machine of the server"),
      Flag.withDefault("/opt/aicr/hooks")
    ),
    trigger: Flag.String("trigger").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("A trigger of the server, if there are several servers"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ config, fileOnly, folder, system, trigger: name }) {
    const snapshot = yield* readSnapshot(config, { fileOnly })
    const { kind, text } = kinds[system]
    const servers = listServers(snapshot, kind)
    const [first] = servers
    if (first === undefined)
      return yield* refused(
        `${config} has no enabled trigger of kind ${kind}; add one to triggers, then print its hooks`
      )
    const names = servers.map((one) => one.name).join(", ")
    if (Option.isNone(name) && servers.length > 1)
      return yield* refused(`${config} has several ${kind} servers; name a trigger of one with --trigger: ${names}`)
    const trigger = Option.isNone(name) ? first : snapshot.triggers.get(name.value)
    if (trigger?.kind !== kind)
      return yield* refused(`${config} has no trigger ${Option.getOrElse(name, () => "")} of kind ${kind}: ${names}`)
    if (/["%\p{Cc}]/u.test(folder)) return yield* refused("--folder has quotes, percent signs or control characters")
    yield* Console.log(text(snapshot, { trigger, folder: folder.replace(/(?<!\/)\/+$/, "") }).join("\n"))
  })
).pipe(
  Command.withDescription(
    "Print the lines that install a hook script (scripts/hooks), with the values of the configuration"
  ),
  Command.withExamples([
    { command: "aicr hooks print p4 --config config.yaml", description: "Lines for `p4 triggers`, and the settings" },
    {
      command: "aicr hooks print svn --trigger tree > hooks/post-commit",
      description: "The hook of the repository of trigger tree, with the settings as comments"
    }
  ])
)

export const hooksCommand = Command.make("hooks").pipe(
  Command.withDescription("Hook scripts of Perforce and Subversion"),
  Command.withSubcommands([print])
)
