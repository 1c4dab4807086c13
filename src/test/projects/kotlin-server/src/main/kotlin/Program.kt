package com.example

import io.ktor.server.application.install
import io.ktor.server.cio.CIO
import io.ktor.server.engine.embeddedServer
import io.ktor.server.routing.routing
import io.ktor.server.sse.SSE
import io.modelcontextprotocol.kotlin.sdk.server.ClientConnection
import io.modelcontextprotocol.kotlin.sdk.server.Server
import io.modelcontextprotocol.kotlin.sdk.server.ServerOptions
import io.modelcontextprotocol.kotlin.sdk.server.StdioServerTransport
import io.modelcontextprotocol.kotlin.sdk.server.mcp
import io.modelcontextprotocol.kotlin.sdk.server.mcpStreamableHttp
import io.modelcontextprotocol.kotlin.sdk.types.CallToolRequest
import io.modelcontextprotocol.kotlin.sdk.types.CallToolResult
import io.modelcontextprotocol.kotlin.sdk.types.ElicitRequestParams
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.ProgressNotification
import io.modelcontextprotocol.kotlin.sdk.types.ProgressNotificationParams
import io.modelcontextprotocol.kotlin.sdk.types.ServerCapabilities
import io.modelcontextprotocol.kotlin.sdk.types.StringSchema
import io.modelcontextprotocol.kotlin.sdk.types.TextContent
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered
import kotlinx.serialization.json.int
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.long

/**
 * A server on the Kotlin SDK, in Ktor or over stdio.
 *
 * Argument: `http`, `sse` or `stdio`. It prints `listening on PORT`.
 */
object Program {
    @JvmStatic
    fun main(args: Array<String>): Unit = runBlocking {
        // It goes to stdout.
        System.setProperty("kotlin-logging.logStartupMessage", "false")
        if (args[0] == "stdio") {
            server().createSession(
                StdioServerTransport(System.`in`.asSource().buffered(), System.out.asSink().buffered()) {},
            )
        } else {
            val engine =
                embeddedServer(CIO, port = 0, host = "127.0.0.1") {
                    if (args[0] == "sse") {
                        install(SSE)
                        routing { mcp("/sse") { server() } }
                    } else {
                        mcpStreamableHttp { server() }
                    }
                }
            engine.startSuspend(wait = false)
            println("listening on " + engine.engine.resolvedConnectors().first().port)
        }
        awaitCancellation()
    }

    private fun server(): Server {
        val options = ServerOptions(ServerCapabilities(tools = ServerCapabilities.Tools(listChanged = true)))
        val server = Server(Implementation("kotlin", "1"), options)
        server.addTool("test_simple_text", "A tool for tests") {
            text("This is a simple text response for testing.")
        }
        server.addTool("count", "A tool for tests") { count(it) }
        server.addTool("ask", "A tool for tests") { ask(it) }
        return server
    }

    private suspend fun ClientConnection.count(call: CallToolRequest): CallToolResult {
        val n = call.arguments!!.getValue("n").jsonPrimitive.int
        for (i in 1..n) {
            delay(call.arguments!!.getValue("intervalMs").jsonPrimitive.long)
            val token = call.params.meta!!.progressToken!!
            notification(
                ProgressNotification(
                    ProgressNotificationParams(token, i.toDouble(), n.toDouble(), "step"),
                ),
            )
        }
        return text("counted $n")
    }

    private suspend fun ClientConnection.ask(call: CallToolRequest): CallToolResult {
        val form = ElicitRequestParams.RequestedSchema(properties = mapOf("answer" to StringSchema()))
        val question = call.arguments!!.getValue("question").jsonPrimitive.content
        val answer = createElicitation(question, form)
        val text = answer.content!!.getValue("answer").jsonPrimitive.content
        return text("${answer.action.name.uppercase()}: $text")
    }

    private fun text(text: String) = CallToolResult(listOf(TextContent(text)))
}
