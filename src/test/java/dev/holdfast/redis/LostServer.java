package dev.holdfast.redis;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** A cluster in which the server of one key is away. */
public final class LostServer {

  private LostServer() {}

  /**
   * Returns a client of the cluster.
   *
   * @param link serves all keys; the test makes commands on the lost key fail
   */
  public static RedisClient of(String key, RedisClient link) {
    return (RedisClient)
        Proxy.newProxyInstance(
            RedisClient.class.getClassLoader(),
            new Class<?>[] {RedisClient.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "isAway" -> arguments[0].equals(key);
                  case "unlessAway" -> InvocationHandler.invokeDefault(proxy, method, arguments);
                  default -> {
                    try {
                      yield method.invoke(link, arguments);
                    } catch (InvocationTargetException failure) {
                      throw failure.getCause();
                    }
                  }
                });
  }
}
