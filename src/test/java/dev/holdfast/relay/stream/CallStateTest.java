package dev.holdfast.relay.stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CallStateTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "true  | RUNNING   | ''",
        "true  | RUNNING   | {'jsonrpc':'2.0','method':'notifications/progress','params':{'id':1}}",
        "true  | WAITING   | {'jsonrpc':'2.0','id':1,'method':'elicitation/create','params':{'mess",
        "true  | WAITING   | {'params':{'a':[{}]},'method':'roots/list','id':'7'}",
        "true  | RUNNING   | {'jsonrpc':'2.0','id':1,'result':{}}",
        "false | CANCELLED | ''",
        "false | FINISHED  | {'jsonrpc':'2.0','id':1,'result':{'content':[{'type':'text','te",
        "false | FAILED    | {'jsonrpc':'2.0','id':1,'error':{'message':'no','code':-32000}}",
        "false | FAILED    | {'error':{'data':{'code':-32800},'code':-32603},'id':1}",
        "false | CANCELLED | {'jsonrpc':'2.0','id':1,'error':{'code':-32800,'message':'by an o",
        "false | FINISHED  | [{'jsonrpc':'2.0','id':1,'result':{}}]",
        "false | FAILED    | {'jsonrpc':'2.0','method':'notifications/message'}",
      })
  void shouldReadTheStateFromTheFirstKeys(boolean isOpen, CallState state, String message) {
    assertThat(CallState.of(isOpen, message.replace('\'', '"').getBytes(UTF_8))).contains(state);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "result     | {'jsonrpc':'2.0','id':1,'result':{'content':[{'isError':true}]}}",
        "result     | {'jsonrpc':'2.0','id':1,'result':{'content':[],'isError':false}}",
        "result     | {'jsonrpc':'2.0','id':1,'result':[]}",
        "tool error | {'jsonrpc':'2.0','id':1,'result':{'content':[{'type':'text'}],'isError':true}}",
        "tool error | {'result':{'isError':true,'content':[]},'id':1}",
        "error      | {'jsonrpc':'2.0','id':1,'error':{'code':-32000,'message':'no'}}",
        "error      | {'jsonrpc':'2.0','id':1,'res",
        "cancelled  | {'jsonrpc':'2.0','id':1,'error':{'code':-32800,'message':'by an operator'}}",
        "cancelled  | ''",
      })
  void shouldTellHowACallEnded(String ending, String last) {
    assertThat(CallState.ending(last.replace('\'', '"').getBytes(UTF_8))).isEqualTo(ending);
  }

  @Test
  void shouldNotGuessWhatIsCutOff() {
    byte[] request = "{\"method\":\"x\",\"params\":{\"text\":\"lo".getBytes(UTF_8);

    assertThat(CallState.of(true, request)).isEmpty();
    assertThat(CallState.of(false, "{\"id\":\"long".getBytes(UTF_8))).isEmpty();
  }
}
