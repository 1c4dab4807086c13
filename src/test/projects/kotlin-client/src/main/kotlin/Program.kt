package com.example

import io.ktor.client.HttpClient
import io.ktor.client.engine.cio.CIO
import io.ktor.client.plugins.sse.SSE
import io.modelcontextprotocol.kotlin.sdk.client.Client
import io.modelcontextprotocol.kotlin.sdk.client.ClientOptions
import io.modelcontextprotocol.kotlin.sdk.client.mcpSseTransport
import io.modelcontextprotocol.kotlin.sdk.client.mcpStreamableHttpTransport
import io.modelcontextprotocol.kotlin.sdk.shared.RequestOptions
import io.modelcontextprotocol.kotlin.sdk.types.CallToolRequest
import io.modelcontextprotocol.kotlin.sdk.types.CallToolRequestParams
import io.modelcontextprotocol.kotlin.sdk.types.ClientCapabilities
import io.modelcontextprotocol.kotlin.sdk.types.ElicitResult
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.ListToolsRequest
import io.modelcontextprotocol.kotlin.sdk.types.TextContent
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

/**
 * The client of the Kotlin SDK.
 *
 * Arguments: `http` or `sse`; the URL; the request timeout in seconds; the steps.
 */
object Program {
    @JvmStatic
    fun main(args: Array<String>) {
        Steps.run({ KotlinClient(args[0], args[1], args[2].toInt().seconds) }, args.drop(3))
    }
}

private class KotlinClient(kind: String, url: String, private val timeout: Duration) : Steps.Client {
    private val client =
        Client(
            Implementation("kotlin", "1"),
            ClientOptions(ClientCapabilities(elicitation = ClientCapabilities.Elicitation())),
        )

    init {
        client.setElicitationHandler { question ->
            Steps.print("asked", question.message)
            ElicitResult(ElicitResult.Action.Accept, JsonObject(mapOf("answer" to JsonPrimitive("north"))))
        }
        val http = HttpClient(CIO) {
            install(SSE)
            // Ktor ends requests after 15 s otherwise.
            engine { requestTimeout = 0 }
        }
        val transport =
            if (kind == "sse") http.mcpSseTransport(url) else http.mcpStreamableHttpTransport(url)
        runBlocking { client.connect(transport) }
    }

    override fun tools(): List<String> = runBlocking {
        client.listTools(ListToolsRequest(), RequestOptions(timeout = timeout)).tools.map { it.toString() }
    }

    override fun call(tool: String, arguments: Map<String, Any>): String = runBlocking {
        val json = arguments.mapValues { (_, value) ->
            if (value is Number) JsonPrimitive(value) else JsonPrimitive(value.toString())
        }
        val result =
            client.callTool(
                CallToolRequest(CallToolRequestParams(tool, JsonObject(json))),
                RequestOptions(
                    onProgress = { Steps.print("progress", it.progress.toInt()) },
                    timeout = timeout,
                ),
            )
        val text = (result.content.first() as TextContent).text
        if (result.isError == true) "error: $text" else text
    }

    override fun close() = runBlocking { client.close() }
}
