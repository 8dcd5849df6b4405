/** Programs that the sources start are started by a launcher, as in a service: processes of tests are large. It ends with the process. */
import { Effect, Layer, Scope } from "effect"
import { layer } from "../../src/vcs/process/Launcher.ts"

await Effect.runPromise(Layer.buildWithScope(layer, Scope.makeUnsafe()))
