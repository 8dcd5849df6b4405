/**
 * Implements `aicr memory show|clear`: displays and removes the lessons of repositories (review.reflection). Works while the service runs;
 * the function that opens the records is a parameter.
 */
import { Clock, Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import type { Lesson } from "../domain/Lesson.ts"
import { Lessons } from "../store/Lessons.ts"
import { ExitWith } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { configFlag } from "./ConfigFlag.ts"
import type { OnRecords } from "./OnRecords.ts"
import { count, oneLine } from "./Wording.ts"

/** Exceeds the default limit of lessons. */
const maxLessons = 10_000

const shared = {
  config: configFlag,
  repository: Flag.String("repository").pipe(
    Flag.withAlias("r"),
    Flag.withMetavar("TRIGGER:OWNER/NAME"),
    Flag.withDescription("Only this repository, as listed by `show`"),
    Flag.optional
  )
}

const daysOf = (millis: number): string => count(Math.floor(millis / 86_400_000), "day")
const lineOf = ({ verdict, category, severity, path, title, learnedAt }: Lesson, now: number): string =>
  `  ${verdict.padEnd(10)} ${severity.padEnd(8)} ${oneLine(category)}  ${oneLine(path)}: ${oneLine(title)} (${daysOf(now - learnedAt)} ago)`

/** Reads the lessons of one repository or of all. */
const read = Effect.fnUntraced(function* (repository: string | undefined) {
  const lessons = yield* Lessons
  const all = yield* lessons.sizes
  const wanted = all.filter((one) => repository === undefined || one.repository === repository)
  if (repository !== undefined && wanted.length === 0) {
    const names = all.map((one) => one.repository).join(", ")
    const message = `No lessons of ${repository} are stored. ${names === "" ? "No repository has lessons yet." : `Repositories with lessons: ${names}.`}`
    return yield* new ExitWith({ code: 2, message })
  }
  return yield* Effect.forEach(wanted, (one) =>
    Effect.map(lessons.recall(one.repository, 0, maxLessons), (found) => ({ ...one, lessons: found }))
  )
})

export const memoryCommand = (runs: Effect.Effect<{ readonly onRecords: OnRecords<Lessons> }>) => {
  const onRecords: OnRecords<Lessons> = (...given) => Effect.flatMap(runs, (loaded) => loaded.onRecords(...given))
  return Command.make("memory").pipe(
    Command.withDescription("Lessons from dismissed and fixed problems"),
    Command.withSubcommands([
      Command.make(
        "show",
        {
          ...shared,
          json: jsonFlag
        },
        Effect.fnUntraced(function* ({ config, repository, json }) {
          const found = yield* onRecords(config, read(Option.getOrUndefined(repository)))
          if (json) return yield* Console.log(JSON.stringify({ repositories: found }, null, 2))
          const now = yield* Clock.currentTimeMillis
          for (const one of found) {
            yield* Console.log(`${one.repository}  ${one.entries} lessons, ${one.bytes} bytes`)
            for (const lesson of one.lessons) yield* Console.log(lineOf(lesson, now))
          }
          if (found.length === 0) yield* Console.log("No lessons are stored.")
        })
      ).pipe(
        Command.withDescription("List lessons, newest first"),
        Command.withExamples([{ command: "aicr memory show", description: "Of every repository" }])
      ),
      Command.make(
        "clear",
        {
          ...shared,
          all: Flag.Boolean("all").pipe(
            Flag.withDefault(false),
            Flag.withDescription("Remove the lessons of every repository")
          )
        },
        Effect.fnUntraced(function* ({ config, repository, all }) {
          if (Option.isSome(repository) === all) {
            return yield* new ExitWith({
              code: 2,
              message: "Select what to remove: --repository TRIGGER:OWNER/NAME, or --all"
            })
          }
          const name = Option.getOrUndefined(repository)
          const forgotten = yield* onRecords(
            config,
            Effect.gen(function* () {
              if (name !== undefined) yield* read(name)
              return yield* (yield* Lessons).clear(name)
            })
          )
          yield* Console.log(`${forgotten} ${forgotten === 1 ? "lesson" : "lessons"} removed.`)
        })
      ).pipe(
        Command.withDescription("Remove lessons"),
        Command.withExamples([
          { command: "aicr memory clear --repository main:team/app", description: "Of one repository" }
        ])
      )
    ])
  )
}
